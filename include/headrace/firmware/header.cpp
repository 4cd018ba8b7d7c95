// SPDX-License-Identifier: MIT
#include <headrace/firmware/header.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include <headrace/firmware/layer_writer.hpp>
#include <headrace/io/c_text.hpp>
#include <headrace/io/io_description.hpp>
#include <headrace/passes/device_lowering.hpp>
#include <headrace/version.hpp>

namespace headrace::firmware {

namespace {

// A layer's kernel computes any operator of its graph; all other operators need a writer.
template <class Op>
inline constexpr bool is_written = has_writer<Op> || one_of<Op, layered_ops>;

template <class... Ops>
constexpr auto written_of(ops<Ops...>) {
    op_set<tosa::dialect, device::dialect> set;
    ((is_written<Ops> ? set.template insert<Ops>() : void()), ...);
    return set;
}

/// The proof that every model that lowers to TOSA has a kernel for each of its layers.
struct writable {
    static constexpr auto set = written_of(tosa::dialect::all_ops{}) | written_of(device::dialect::all_ops{});
};
using to_device = device_lowering<writable>;

result<void> infer_layer(const node& n, inference& out) {
    const inference_rule rule = find_rule<tosa::dialect, device::dialect>(*n.op);
    if (rule == nullptr) return invalid({message_prefix(n), "no inference rule"});
    return rule(n.arguments, out);
}

class header_text {
public:
    header_text(const header_options& options, const model_header& model, const io_description& io)
        : options_(options), model_(model), io_(io) {}

    std::string write() const {
        const written_layers& layers = model_.layers;
        std::string text = fmt::format(
            "// {}: {} for {}, by headrace {}. Generated: lower the model again instead of editing this.\n",
            options_.name + ".hpp", c_comment(options_.model), options_.core.name, version);
        text += fmt::format(
            "#ifndef HEADRACE_MODEL_{0}_HPP\n#define HEADRACE_MODEL_{0}_HPP\n\n"
            "{2}\nnamespace {0} {{\n\n"
            "namespace hr = headrace::on_device;\n\nnamespace constants {{\n{1}}}  // namespace "
            "constants\n\n",
            options_.name, layers.constants.text(), includes());
        if (!layers.functions.text().empty())
            text += fmt::format("namespace functions {{\n{}}}  // namespace functions\n\n",
                                layers.functions.text());
        text += "struct description {\n";
        text += fmt::format(
            "    static constexpr std::int64_t macs = {};\n    static constexpr std::size_t constant_bytes = "
            "{};\n\n",
            model_.macs, model_.constant_bytes);
        text += plan() + calls() + ports("inputs", io_.inputs, layers.inputs) +
                ports("outputs", io_.outputs, layers.outputs);
        text += "};\n\nusing model = hr::model<description>;\n\n";
        text += fmt::format("}}  // namespace {}\n\n#endif\n", options_.name);
        return text;
    }

private:
    // Includes only the kernels that the model uses, because each takes time to compile.
    std::string includes() const {
        static constexpr std::pair<std::string_view, std::string_view> moved[] = {
            {"copy", "move"},
            {"fill", "move"},
            {"tile", "move"},
            {"gather", "move"},
            {"scatter", "move"},
            {"argmax", "reduce"},
            {"avg_pool2d", "pooling"},
            {"max_pool2d", "pooling"},
            {"fft2d", "fft"},
            {"rfft2d", "fft"},
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
            text += fmt::format("        hr::buffer{{{}, {}, {}, {}, {}{}}}{}\n", element_text(b.type),
                                b.count, b.offset, b.first, b.last, b.is_state ? ", true" : "",
                                &b == &buffers.back() ? ">;" : ",");
        return text + '\n';
    }
    static std::string list_text(const std::vector<call>& calls, std::size_t indent) {
        std::string text;
        for (const call& c : calls)
            text += fmt::format("{}\n{:{}}{}", text.empty() ? "" : ",", "", indent, call_text(c, indent));
        return text.empty() ? "hr::layers<>" : fmt::format("hr::layers<{}>", text);
    }
    static std::string call_text(const call& c, std::size_t indent) {
        const std::string name = c_string_literal(c.name);
        if (c.kind != call::kind_type::kernel)
            return fmt::format(
                "hr::{}<{}, {}, {},\n{:{}}{}>", c.kind == call::kind_type::loop ? "loop" : "branch", name,
                c.condition, list_text(c.first, indent + 8), "", indent + 4, list_text(c.second, indent + 8));
        return fmt::format("hr::layer<{}, {},\n{:{}}{}, {}>", name, c.op, "", indent + 10,
                           c.scratch ? fmt::format("hr::scratch<{}>", *c.scratch) : "hr::no_scratch",
                           fmt::join(c.operands, ", "));
    }
    std::string calls() const {
        return fmt::format("    using layers = {};\n\n    using first_states = {};\n\n",
                           list_text(model_.layers.calls, 8), list_text(model_.layers.first_states, 8));
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
                                c_string_literal(tensors[i].name), places[i].buffer,
                                tensor_text(places[i].type), type);
        }
        return fmt::format("{}    using {} = hr::ports<{}>;\n", quantizations, kind, list);
    }

    const header_options& options_;
    const model_header& model_;
    const io_description& io_;
};

// The tensors that live at the fullest layer, largest first.
std::string peak_text(const model_header& model) {
    const std::int64_t at = model.arena.fullest;
    std::vector<std::int64_t> sizes;
    for (const planned_buffer& b : model.layers.buffers)
        if (!b.is_state && b.first <= at && at <= b.last) sizes.push_back(b.bytes());
    std::ranges::sort(sizes, std::greater<>());
    std::string name = "the outputs";
    std::int64_t step = 0;
    for_each_call(model.layers, [&](const call& c) {
        if (step++ == at) name = c.name;
    });
    return fmt::format("at {} there are tensors of {} bytes", name, fmt::join(sizes, ", "));
}

}  // namespace

result<model_header> write_header(graph& g, const header_options& options) {
    const io_description io = describe_io(g);
    pass_context context(&infer_layer);
    HEADRACE_TRY(to_device::run_unchecked(g, context, {}));
    HEADRACE_TRY(layers, write_layers(g, options.core));
    model_header made{.text = {}, .layers = std::move(layers), .arena = {}};
    made.arena = plan_buffers(made.layers.buffers);
    made.constant_bytes = static_cast<std::int64_t>(made.layers.constants.bytes());
    for_each_call(made.layers, [&](const call& c) { made.macs += c.macs; });
    if (options.largest_arena && made.arena.bytes > *options.largest_arena)
        return unsupported(fmt::format("the arena has {} bytes, {} are allowed: {}", made.arena.bytes,
                                       *options.largest_arena, peak_text(made)));
    if (options.largest_flash && made.constant_bytes > *options.largest_flash)
        return unsupported(fmt::format("the constants take {} bytes of flash, {} are allowed",
                                       made.constant_bytes, *options.largest_flash));
    made.text = header_text(options, made, io).write();
    return made;
}

}  // namespace headrace::firmware
