// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include <headrace/base/printable.hpp>
#include <headrace/dialect/builtin.hpp>
#include <headrace/dialect/tosa.hpp>
#include <headrace/firmware/report.hpp>
#include <headrace/io/package/package.hpp>
#include <headrace/io/text/dot.hpp>
#include <headrace/ir/listing.hpp>
#include <headrace/run/models.hpp>
#include <headrace/show/model_summary.hpp>
#include <headrace/show/npu_prediction.hpp>
#include <headrace/show/short_listing.hpp>
#include <headrace/target/npu.hpp>

#include "commands.hpp"
#include "graph_files.hpp"
#include "messages.hpp"
#include "notes.hpp"
#include "package.hpp"
#include "page.hpp"
#include "pte.hpp"
#include "suggestions.hpp"

namespace headrace::cli {

namespace {

/// Loads the model of the options. Sizes that it leaves open, and for which no option has a number, are those
/// of the example that it was exported with; a note says so.
result<loaded_model> load_to_show(const show_options& options, const std::string& method) {
    size_choices choices = options.sizes;
    choices.examples = true;
    HEADRACE_TRY(loaded, load_model_with_data(options.model, method, options.data, choices));
    for (const dynamic_size& s : loaded.model.sizes) {
        if (s.axes.empty() || !s.value) continue;
        const std::string range =
            s.highest ? fmt::format("{} to {}", s.lowest, *s.highest) : fmt::format("{} or more", s.lowest);
        fmt::print(stderr, "note: {} ({}) is a dynamic size, {}, shown as {}\n", printable(s.symbol),
            printable(fmt::format("{}", fmt::join(s.axes, ", "))), range, *s.value);
    }
    say_notes(options.model, *loaded.model.graph);
    return std::move(loaded);
}

std::string format_summary(const graph& g) {
    using firmware::with_commas;
    const model_summary s = summary_of(g);
    std::string text = fmt::format("nodes        {}\nMACs         {}{}\nparameters   {} ({})\n", s.nodes,
        with_commas(s.macs),
        s.uncounted == 0 ? "" : fmt::format(" and those of {} more", counted(s.uncounted, "node")),
        with_commas(s.parameters), format_size(s.parameter_bytes));
    text += fmt::format("peak memory  {}\n",
        s.peak_bytes ? fmt::format("{} ({} bytes)", format_size(*s.peak_bytes), with_commas(*s.peak_bytes))
                     : "not known: `headrace plan` says why");
    for (const auto& [title, tensors] : {std::pair{"inputs", &s.inputs}, std::pair{"outputs", &s.outputs}}) {
        text += fmt::format("{}\n", title);
        for (const std::string& t : *tensors) text += fmt::format("  {}\n", t);
    }
    text += "ops\n";
    for (const op_summary& op : s.ops)
        text += fmt::format("  {:>5} {}{}\n", op.count, op.op,
            op.macs == 0 ? "" : fmt::format(": {} MACs", with_commas(op.macs)));
    return text;
}

std::string format_cycles(const graph& g, const npu& target) {
    std::string text;
    double total = 0;
    for (const predicted_operator& o : predict_cycles(g, target)) {
        text += fmt::format("{:>12.0f}  {} {}\n", o.cycles, o.op, printable(o.name));
        total += o.cycles;
    }
    return text + fmt::format("{:>12.0f}  in all on {}\n", total, target.name);
}

/// Returns the text to print for a graph; the error says that the node of --around is not in it.
result<std::string> shown(const graph& g, const show_options& options) {
    if (options.summary) return format_summary(g);
    if (!options.npu.empty()) {
        const npu* const target = npu_named(options.npu);
        if (target == nullptr) {
            std::vector<std::string_view> names;
            for (const npu& known : all_npus) names.push_back(known.name);
            return invalid(
                fmt::format("no NPU is called '{}'; known are {}", options.npu, fmt::join(names, ", ")));
        }
        const auto nodes = g.nodes();
        const bool is_lowered = std::all_of(nodes.begin(), nodes.end(), [](const node& n) {
            return is_of_dialect<tosa::dialect>(n) || is_of_dialect<builtin::dialect>(n);
        });
        if (!is_lowered) return invalid("--npu needs TOSA operators: lower the model to a .tosa file first");
        const bool has_floats = std::any_of(nodes.begin(), nodes.end(), [](const node& n) {
            const tensor_meta* const meta = n.result_count == 0 ? nullptr : n.results[0].meta;
            return meta != nullptr && is_floating(meta->dtype);
        });
        if (has_floats)
            return invalid("--npu needs integers, which alone an Ethos-U computes: quantize the model first");
        return format_cycles(g, *target);
    }
    if (options.full) return std::string(listing(g));
    const short_listing lines(g);
    if (options.around.empty()) return lines.text();
    if (auto found = lines.around(options.around, static_cast<std::size_t>(options.depth)))
        return *std::move(found);
    return invalid(fmt::format(
        "no value is called '{}'{}", options.around, did_you_mean(options.around, lines.names())));
}

int report_shown(const error& e) {
    return e.kind == error_kind::invalid ? report_usage(e.message) : report_error(e);
}

/// A model, or one method of a package or a .pte file, below its title.
result<void> add_method(
    const show_options& options, const std::string& name, const std::string& title, std::string& text) {
    HEADRACE_TRY(loaded, load_to_show(options, name));
    const graph& g = *loaded.model.graph;
    HEADRACE_TRY(lines, shown(g, options));
    text += title + lines;
    return loaded.check();
}

// Each method: its delegate, or its host graph, and why nodes are in that.
result<std::string> package_text(const show_options& options) {
    HEADRACE_TRY(opened, package::open(options.model));
    std::string text;
    for (const auto& [name, method] : opened.methods()) {
        if (!options.method.empty() && options.method != name) continue;
        std::string title = fmt::format("method {}: ", name);
        if (method.delegate) {
            title += fmt::format("{}\n", opened.delegates()[*method.delegate].file);
        } else {
            title += fmt::format("{}, {}\n", method.host, counted(method.calls.size(), "delegate"));
        }
        for (const host_note& n : method.notes)
            title +=
                fmt::format("{}{}host node {} ({}): {}\n", printable(n.source), n.source.empty() ? "" : ": ",
                    printable(n.node), printable(n.op), printable(n.reason, max_printed_message));
        HEADRACE_TRY(add_method(options, name, title, text));
    }
    return text;
}

result<std::string> pte_text(const show_options& options, const std::vector<std::string>& methods) {
    std::string text;
    for (const std::string& name : methods) {
        if (!options.method.empty() && options.method != name) continue;
        HEADRACE_TRY(add_method(options, name, fmt::format("method {}:\n", printable(name)), text));
    }
    return text;
}

int write_to_file(const show_options& options) {
    if (const int status = check_distinct_files(std::vector{options.output}, options.model);
        status != status_ok)
        return status;
    if (const int status = check_method_option(options.model, options.method); status != status_ok)
        return status;
    if (const int status = check_graph_extension(options.output); status != status_ok) return status;
    const auto loaded = load_to_show(options, options.method);
    if (!loaded) return report_error(loaded.error());
    const auto written = write_graph(options.output, loaded.value().model, options.inlined);
    return written ? status_ok : report_error(written.error());
}

int write_graph_page(const show_options& options) {
    const std::vector files{options.html};
    if (const int status = check_distinct_files(files, options.model); status != status_ok) return status;
    if (const int status = check_method_option(options.model, options.method); status != status_ok)
        return status;
    if (const auto possible = check_page(options.vela_csv); !possible) return report_error(possible.error());
    const auto loaded = load_to_show(options, options.method);
    if (!loaded) return report_error(loaded.error());
    const graph& g = *loaded.value().model.graph;
    graph_history history;
    history.begin(g);
    if (const auto whole = loaded.value().check(); !whole) return report_error(whole.error());
    std::string core;
    if (!options.core.empty()) {
        if (const int status = core_json(options, core); status != status_ok) return status;
    }
    const page_source source{.title = options.model, .last = &g, .history = &history, .core = core};
    const auto written = write_page(options.html, source, options.vela_csv);
    return written ? status_ok : report_error(written.error());
}

result<std::string> model_text(const show_options& options) {
    std::string text;
    HEADRACE_TRY(add_method(options, options.method, "", text));
    return text;
}

int draw(const show_options& options) {
    const auto loaded = load_to_show(options, options.method);
    if (!loaded) return report_error(loaded.error());
    write_dot(std::cout, *loaded.value().model.graph);
    return status_ok;
}

}  // namespace

int show(const show_options& options) {
    if (options.pipeline) return show_pipeline(options);
    if (options.support) return show_support(options);
    if (!options.op.empty() || !options.pass.empty())
        return report_usage("--op and --pass ask about the pipeline: add --pipeline, or --support for an op");
    if (options.model.empty()) return report_usage("show needs a model, --pipeline or --support");
    if (is_generated_path(options.model)) return show_generated(options);
    if (!options.core.empty() && options.html.empty()) return show_core(options);
    if (!options.output.empty()) return write_to_file(options);
    if (!options.html.empty()) return write_graph_page(options);
    const bool is_package = package::is_package(options.model);
    if (options.dot || !options.method.empty()) {
        const int status = check_method_option(options.model, options.method);
        if (status != status_ok) return status;
    }
    if (options.dot) return draw(options);
    const std::vector<std::string> methods = pte_methods(options.model);
    const result<std::string> text = is_package ? package_text(options)
        : !methods.empty()                      ? pte_text(options, methods)
                                                : model_text(options);
    if (!text) return report_shown(text.error());
    fmt::print("{}", text.value());
    return status_ok;
}

}  // namespace headrace::cli
