// SPDX-License-Identifier: MIT
// Formats the header of a model: constants, layers, memory plan and the type.
#include <headrace/firmware/header_text.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>

#include <headrace/firmware/layers.hpp>
#include <headrace/io/file/c_text.hpp>
#include <headrace/version.hpp>

namespace headrace::firmware {

namespace {

// Returns where an axis of an exported tensor is: images may have their channels last.
std::size_t stored_axis(const io_tensor& t, std::size_t exported) {
    if (!t.channels_last || exported == 0) return exported;
    return exported == 1 ? t.shape.size() - 1 : exported - 1;
}

// The first opens each line of the report.
constexpr std::string_view comment = "// ", signature = ", by headrace ";

class header_text {
public:
    header_text(const header_options& options, const model_header& model, std::string_view sample,
        std::span<const std::string> outputs)
        : options_(options), model_(model), sample_(sample), sample_outputs_(outputs) {}

    std::string write() const {
        const written_layers& layers = model_.layers;
        std::string text = fmt::format(
            "{}{}.hpp: {} for {}{}{}. Generated: lower the model again instead of editing this.\n", comment,
            options_.name, c_comment(options_.model), options_.core.name, signature, version);
        text += report();
        text += fmt::format(
            "#ifndef HEADRACE_MODEL_{4}_HPP\n#define HEADRACE_MODEL_{4}_HPP\n\n"
            "{2}\n{3}namespace {0} {{\n\n"
            "namespace hr = headrace::on_device;\n\nnamespace constants {{\n{1}}}  // namespace "
            "constants\n\n",
            options_.name, layers.constants.text(), includes() + bank_macros(), shared_constants(), guard());
        if (!layers.functions.text().empty())
            text += fmt::format(
                "namespace functions {{\n{}}}  // namespace functions\n\n", layers.functions.text());
        if (!sample_.empty())
            text += fmt::format("namespace samples {{\n{}}}  // namespace samples\n\n", sample_);
        text += "struct description {\n";
        text += fmt::format(
            "    static constexpr std::int64_t macs = {};\n    static constexpr std::size_t constant_bytes = "
            "{};\n\n",
            model_.report.macs, model_.report.constant_bytes);
        text += plan() + calls() + ports("inputs", model_.io.inputs, layers.inputs) +
            ports("outputs", model_.io.outputs, layers.outputs) + stream() + traces() + sample();
        text += "};\n\nusing model = hr::model<description>;\n\n";
        text += arenas();
        text += fmt::format("}}  // namespace {}\n\n#endif\n", options_.name);
        return text;
    }

private:
    // The name as one identifier: a method's namespace is in its model's.
    std::string guard() const {
        std::string name = options_.name;
        std::ranges::replace(name, ':', '_');
        return name;
    }
    std::string report() const {
        const std::string lines = format_report(model_.report);
        std::string text;
        for (std::size_t at = 0; at < lines.size();) {
            const std::size_t end = lines.find('\n', at);
            text += fmt::format("{}{}\n", comment, c_comment(lines.substr(at, end - at)));
            at = end + 1;
        }
        if (model_.banks) text += format_banks(*model_.banks);
        return text;
    }

    std::string bank_macros() const { return model_.banks ? format_bank_macros(*model_.banks) : ""; }
    std::string arenas() const { return model_.banks ? format_arenas(*model_.banks) : ""; }

    std::string shared_constants() const {
        const std::string& text = model_.layers.constants.shared_text();
        if (text.empty()) return {};
        return fmt::format(
            "// Other models of the image may have the same arrays.\nnamespace headrace_constants {{\n\n"
            "namespace hr = headrace::on_device;\n\n{}\n}}  // namespace headrace_constants\n\n",
            text);
    }

    // Includes only the kernels that the model uses, because each takes time to compile.
    std::string includes() const {
        static constexpr std::pair<std::string_view, std::string_view> moved[] = {{"copy", "move"},
            {"fill", "move"}, {"tile", "move"}, {"gather", "move"}, {"scatter", "move"}, {"argmax", "reduce"},
            {"avg_pool2d", "pooling"}, {"max_pool2d", "pooling"}, {"fft2d", "fft"}, {"rfft2d", "fft"},
            {"transpose_conv2d", "transpose_conv"}};
        std::set<std::string, std::less<>> names{"model"};
        if (!model_.layers.functions.text().empty()) names.emplace("functions");
        for_each_call(model_.layers, [&](const call& c) {
            const std::string_view op = std::string_view(c.op).substr(4, c.op.find('<') - 4);
            const auto* const found =
                std::ranges::find(moved, op, &std::pair<std::string_view, std::string_view>::first);
            names.emplace(found == std::end(moved) ? op : found->second);
        });
        std::string text;
        for (const std::string& n : names) text += fmt::format("#include <headrace/on_device/{}.hpp>\n", n);
        return text;
    }
    std::string plan() const {
        std::string text =
            "    // Elements, the byte where they begin, and the first and the last layer that uses them.\n"
            "    using plan = hr::memory_plan<\n";
        const auto& buffers = model_.layers.buffers;
        for (const planned_buffer& b : buffers)
            text += fmt::format("        hr::buffer{{{}, {}, {}, {}, {}{}}}{}\n", format_element(b.type),
                b.count, b.offset, b.first, b.last,
                b.arena != 0     ? fmt::format(", false, {}", b.arena)
                    : b.is_state ? ", true"
                                 : "",
                &b == &buffers.back() ? ">;" : ",");
        return text + '\n';
    }
    static std::string format_list(const std::vector<call>& calls, std::size_t indent) {
        std::string text;
        for (const call& c : calls)
            text += fmt::format("{}\n{:{}}{}", text.empty() ? "" : ",", "", indent, format_call(c, indent));
        return text.empty() ? "hr::layers<>" : fmt::format("hr::layers<{}>", text);
    }
    static std::string format_call(const call& c, std::size_t indent) {
        const std::string name = c_string_literal(c.name);
        if (c.kind != call::kind_type::kernel)
            return fmt::format("hr::{}<{}, {}, {},\n{:{}}{}>",
                c.kind == call::kind_type::loop ? "loop" : "branch", name, c.condition,
                format_list(c.first, indent + 8), "", indent + 4, format_list(c.second, indent + 8));
        return fmt::format("hr::layer<{}, {},\n{:{}}{}, {}>", name, c.op, "", indent + 10,
            c.scratch ? fmt::format("hr::scratch<{}>", *c.scratch) : "hr::no_scratch",
            fmt::join(c.operands, ", "));
    }
    std::string calls() const {
        return fmt::format("    using layers = {};\n\n    using first_states = {};\n\n",
            format_list(model_.layers.calls, 8), format_list(model_.layers.first_states, 8));
    }
    std::string ports(std::string_view kind, const std::vector<io_tensor>& tensors,
        const std::vector<place>& places) const {
        std::string quantizations, list;
        identifiers names;
        for (std::size_t i = 0; i != places.size(); ++i) {
            std::string type = "hr::not_quantized";
            if (tensors[i].quantization) {
                type = names.make(fmt::format("quantization_of_{}", tensors[i].name));
                quantizations += fmt::format(
                    "    struct {} {{\n        static constexpr double scale = {};\n        static constexpr "
                    "int zero_point = {};\n    }};\n",
                    type, tensors[i].quantization->scale, tensors[i].quantization->zero_point);
            }
            list += fmt::format("{}\n        hr::port<{}, {}, {}, {}>", i == 0 ? "" : ",",
                c_string_literal(tensors[i].name), places[i].buffer, format_tensor(places[i].type), type);
        }
        return fmt::format("{}    using {} = hr::ports<{}>;\n", quantizations, kind, list);
    }

    // The axes of a model that computes a step, as counts of numbers before, along and after them.
    std::string stream() const {
        if (!options_.stream) return {};
        std::string inputs, outputs;
        for (const streamed_input& s : options_.stream->inputs) {
            const auto found = std::ranges::find(model_.io.inputs, s.name, &io_tensor::name);
            if (found == model_.io.inputs.end()) return {};
            const std::span<const std::int64_t> shape(found->shape);
            const std::size_t axis = stored_axis(*found, static_cast<std::size_t>(s.axis));
            inputs += fmt::format("{}{{{}, {}, {}, {}}}", inputs.empty() ? "" : ", ",
                found - model_.io.inputs.begin(), eval::elements_in(shape.first(axis)), shape[axis],
                eval::elements_in(shape.subspan(axis + 1)));
        }
        for (const streamed_output& s : options_.stream->outputs)
            outputs += fmt::format("{}{{{}, {}}}", outputs.empty() ? "" : ", ", s.elements, s.delay);
        return fmt::format(
            "    struct stream {{\n        static constexpr hr::streamed_input inputs[]{{{}}};\n"
            "        static constexpr hr::streamed_output outputs[]{{{}}};\n"
            "        static constexpr std::int32_t first_step = {};\n    }};\n",
            inputs, outputs, options_.stream->first_step);
    }

    // Results of layers, for an observer of model::run; flash has them only where there is one.
    std::string traces() const {
        std::string list;
        for (const traced_result& t : model_.layers.traces)
            list += fmt::format("        {{{}, {}, {}, {}}},\n", t.call, t.at.buffer,
                c_string_literal(t.name), format_tensor(t.at.type));
        return list.empty() ? list
                            : fmt::format("    static constexpr hr::trace traces[] = {{\n{}    }};\n", list);
    }

    // Elements of the outputs for the sample's inputs; flash has them only where self_test() is called.
    std::string sample() const {
        if (sample_outputs_.empty()) return {};
        std::string list;
        for (const std::string& name : sample_outputs_)
            list += fmt::format("{}samples::{}", list.empty() ? "" : ", ", name);
        return fmt::format("    using sample = hr::sample<{}>;\n", list);
    }

    const header_options& options_;
    const model_header& model_;
    std::string_view sample_;
    std::span<const std::string> sample_outputs_;
};

}  // namespace

std::string format_header(const header_options& options, const model_header& model, std::string_view sample,
    std::span<const std::string> sample_outputs) {
    return header_text(options, model, sample, sample_outputs).write();
}

std::optional<std::string> report_in(std::string_view header) {
    const auto next_line = [&] {
        const std::size_t end = std::min(header.find('\n'), header.size());
        const std::string_view line = header.substr(0, end);
        header.remove_prefix(std::min(end + 1, header.size()));
        return line;
    };
    const std::string_view first = next_line();
    if (!first.starts_with(comment) || first.find(signature) == std::string_view::npos) return std::nullopt;
    std::string text;
    while (header.starts_with(comment)) text += fmt::format("{}\n", next_line().substr(comment.size()));
    return text;
}

}  // namespace headrace::firmware
