// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <iostream>

#include <headrace/base/printable.hpp>
#include <headrace/io/dot.hpp>
#include <headrace/io/package.hpp>
#include <headrace/ir/listing.hpp>
#include <headrace/lowering/models.hpp>

#include "commands.hpp"
#include "graph_files.hpp"
#include "messages.hpp"
#include "package.hpp"
#include "pte.hpp"

namespace headrace::cli {

namespace {

/// The model of the options. Sizes that it leaves open, and that nobody has chosen, are those of the example
/// that it was exported with; a note says so.
result<loaded_model> load_to_show(const show_options& options) {
    size_choices choices = options.sizes;
    choices.examples = true;
    BOOST_OUTCOME_TRY(loaded, load_model(options.model, options.method, choices));
    for (const dynamic_size& s : loaded.model.sizes) {
        if (s.axes.empty() || !s.value) continue;
        fmt::print(stderr, "note: {} is a dynamic size, {} to {}, shown as {}\n",
                   printable(fmt::format("{}", fmt::join(s.axes, ", "))), s.lowest,
                   s.highest ? fmt::to_string(*s.highest) : "any", *s.value);
    }
    return loaded;
}

// Each method: its delegate, or its host graph, and why nodes are in that.
int show_package(const show_options& options) {
    const auto opened = package::open(options.model);
    if (!opened) return report_error(opened.error());
    if (!options.method.empty()) {
        if (const auto known = opened.value().method(options.method); !known)
            return report_error(known.error());
    }
    std::string text;
    for (const auto& [name, method] : opened.value().methods()) {
        if (!options.method.empty() && options.method != name) continue;
        const auto loaded = load_model(options.model, name);
        if (!loaded) return report_error(loaded.error());
        text += fmt::format("method {}: ", name);
        if (method.delegate) {
            text += fmt::format("{}\n", opened.value().delegates()[*method.delegate].file);
        } else {
            text += fmt::format("{}, {} delegates\n", method.host, method.calls.size());
        }
        for (const host_note& n : method.notes)
            text += fmt::format("host node {} ({}): {}\n", printable(n.node), printable(n.op),
                                printable(n.reason, max_printed_message));
        text += listing(*loaded.value().model.graph);
        if (const auto whole = loaded.value().check(); !whole) return report_error(whole.error());
    }
    fmt::print("{}", text);
    return status_ok;
}

int write_to_file(const show_options& options) {
    if (const int status = check_distinct_files(std::vector{options.output}, options.model);
        status != status_ok)
        return status;
    if (const int status = check_method_option(options.model, options.method); status != status_ok)
        return status;
    const auto loaded = load_to_show(options);
    if (!loaded) return report_error(loaded.error());
    const auto written = write_graph(options.output, loaded.value().model, options.inlined);
    return written ? status_ok : report_error(written.error());
}

}  // namespace

int show(const show_options& options) {
    if (options.pipeline) return show_pipeline(options);
    if (!options.op.empty() || !options.pass.empty())
        return report_usage("--op and --pass ask about the pipeline: add --pipeline");
    if (options.model.empty()) return report_usage("show needs a model, or --pipeline");
    if (!options.output.empty()) return write_to_file(options);
    const bool is_package = package::is_package(options.model);
    if (is_package && !options.dot) return show_package(options);
    const bool shows_all = options.method.empty() && !options.dot;
    const int status = shows_all ? status_ok : check_method_option(options.model, options.method);
    if (status != status_ok) return status;
    if (!options.dot && !pte_methods(options.model).empty()) return show_pte(options);
    const auto loaded = load_to_show(options);
    if (!loaded) return report_error(loaded.error());
    const program& p = loaded.value().model;
    if (options.dot) {
        write_dot(std::cout, *p.graph);
    } else {
        fmt::print("{}", listing(*p.graph));
    }
    return status_ok;
}

}  // namespace headrace::cli
