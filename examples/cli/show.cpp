// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iostream>

#include <headrace/io/package.hpp>
#include <headrace/ir/dot.hpp>
#include <headrace/ir/listing.hpp>

#include "commands.hpp"
#include "files.hpp"
#include "lowering.hpp"

namespace headrace::cli {

namespace {

void print_pipeline(const pipeline_description& d) {
    fmt::print("{} passes, from {} source ops, of which {} are proven to end in TOSA\n\n", d.passes.size(),
               d.source.size(), d.supported.size());
    for (std::size_t i = 0; i != d.passes.size(); ++i) {
        const pass_description& p = d.passes[i];
        fmt::print("{:3} {}{}\n", i + 1, p.name, p.can_fire ? "" : "  (pruned: can never fire)");
        fmt::print("      {} ops can be in the graph before it\n", p.ops_before);
        if (!p.targets.empty()) fmt::print("      targets  {}\n", fmt::join(p.targets, " "));
        if (!p.produces.empty()) fmt::print("      produces {}\n", fmt::join(p.produces, " "));
    }
    fmt::print("\nwhat can leave it: {}\n", fmt::join(d.result, " "));
}

// A box per pass; an edge where a pass may emit what a later one looks for.
void draw_pipeline(const pipeline_description& d) {
    fmt::print("digraph pipeline {{\n  rankdir=LR;\n  node [shape=box, fontname=\"monospace\"];\n");
    for (std::size_t i = 0; i != d.passes.size(); ++i) {
        const pass_description& p = d.passes[i];
        fmt::print("  p{} [label=\"{}\\n{} targets, {} ops before\"{}];\n", i, p.name, p.targets.size(),
                   p.ops_before, p.can_fire ? "" : ", style=dashed");
        if (i != 0) fmt::print("  p{} -> p{} [weight=10];\n", i - 1, i);
        for (std::size_t k = i + 2; k < d.passes.size(); ++k) {
            const auto& wanted = d.passes[k].targets;
            const auto meets =
                std::find_first_of(p.produces.begin(), p.produces.end(), wanted.begin(), wanted.end());
            if (meets != p.produces.end()) {
                fmt::print("  p{} -> p{} [style=dotted, constraint=false, tooltip=\"{}\"];\n", i, k, *meets);
            }
        }
    }
    fmt::print("}}\n");
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
            text += fmt::format("host node {} ({}): {}\n", n.node, n.op, n.reason);
        text += listing(*loaded.value().model.graph);
    }
    fmt::print("{}", text);
    return status_ok;
}

}  // namespace

int show(const show_options& options) {
    if (options.pipeline) {
        const pipeline_description d = describe_lowering();
        options.dot ? draw_pipeline(d) : print_pipeline(d);
        return status_ok;
    }
    if (options.model.empty()) return report_usage("show needs a model, or --pipeline");
    if (package::is_package(options.model) && !options.dot) return show_package(options);
    const auto loaded = load_model(options.model, options.method);
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
