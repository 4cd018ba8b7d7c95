// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include <range/v3/view/filter.hpp>
#include <range/v3/view/indices.hpp>
#include <range/v3/view/take_exactly.hpp>

#include <headrace/lowering/standard_pipeline.hpp>
#include <headrace/show/op_support.hpp>
#include <headrace/show/op_trace.hpp>
#include <headrace/show/pipeline_view.hpp>

#include "commands.hpp"
#include "messages.hpp"
#include "suggestions.hpp"

namespace headrace::cli {

namespace {

constexpr std::size_t everything = SIZE_MAX;

// Lists the names that there is room for, and the number of the others.
std::string text_of(
    const op_name_list& names, std::string_view separator = " ", std::size_t room = everything) {
    if (names.empty()) return "nothing";
    const std::size_t shown = std::min(room, names.size());
    std::string text = fmt::format("{}", fmt::join(names | ranges::views::take_exactly(shown), separator));
    if (shown != names.size()) text += fmt::format("{}and {} more", separator, names.size() - shown);
    return text;
}

// Returns the positions of a pass in the pipeline: it may run several times.
auto positions_of(const pipeline_description& d, std::string_view name) {
    return ranges::views::indices(d.passes.size()) |
        ranges::views::filter([&d, name](std::size_t i) { return d.passes[i].name == name; });
}

std::string counted(std::size_t count, std::string_view one, std::string_view several) {
    return fmt::format("{} {}", count, count == 1 ? one : several);
}

void print_line(std::string_view label, const op_name_list& names) {
    if (!names.empty()) fmt::print("      {:8} {}\n", label, text_of(names));
}

// tests/checks/passes_readme.py reads this.
void print_pass(const pipeline_description& d, std::size_t i) {
    const pass_description& p = d.passes[i];
    const op_name_list met = met_by(p);
    fmt::print("{:3} {}{}\n", i + 1, p.name, p.can_fire ? "" : "  (pruned: can never fire)");
    if (!p.summary.empty()) fmt::print("      {}\n", p.summary);
    fmt::print("      {} ops can be in the graph before it, {} after\n", p.before.size(),
        (i + 1 == d.passes.size() ? d.result : d.passes[i + 1].before).size());
    print_line("targets", p.targets);
    if (met.size() != p.targets.size()) {
        fmt::print("      {:8} {}\n", "meets", text_of(met));
    }
    print_line("produces", p.produces);
}

void print_meetings(const pipeline_description& d) {
    fmt::print(
        "\nWhich passes can meet which ops. Those that always rewrite them are marked -; passes without "
        "targets are left out.\n");
    for (const op_group& g : groups_of(d)) {
        fmt::print("\n{}: {}\n", counted(g.ops.size(), "op", "ops"), text_of(g.ops));
        if (g.met_by.empty()) fmt::print("      no pass\n");
        for (const meeting& m : g.met_by)
            fmt::print("    {:3}{} {}\n", m.pass + 1, m.removes ? '-' : ' ', d.passes[m.pass].name);
    }
}

void print_pipeline(const pipeline_description& d) {
    fmt::print("{} passes, from {} source ops, of which {} are proven to end in TOSA\n\n", d.passes.size(),
        d.source.size(), d.supported.size());
    for (std::size_t i = 0; i != d.passes.size(); ++i) print_pass(d, i);
    fmt::print("\nwhat can leave it: {}\n", fmt::join(d.result, " "));
    print_meetings(d);
}

std::string fate_of(const pipeline_description& d, std::string_view op) {
    const auto among = [&](const op_name_list& names) {
        return std::find(names.begin(), names.end(), op) != names.end();
    };
    if (among(d.supported)) return "a source op, proven to end in TOSA";
    if (among(d.source)) return "a source op, not proven to end in TOSA";
    return among(d.result) ? "made by passes, and can leave the pipeline"
                           : "made by passes, and cannot leave";
}

// Prints what becomes of a small program of this op, if exported programs may have it.
void print_traces(std::string_view name) {
    const std::vector<const op_info*> ops = probed_ops();
    const auto op = std::ranges::find(ops, name, &op_info::name);
    if (op == ops.end()) return;
    for (const op_trace& trace : traces_of(**op)) {
        fmt::print("\nPasses that change the op alone, {}, and the ops after each:\n", trace.elements);
        for (const traced_pass& t : trace.passes) fmt::print("  {:32} {}\n", t.pass, text_of(t.ops));
    }
}

void print_op(const pipeline_description& d, std::string_view op) {
    constexpr std::size_t room = 6;
    const std::vector<meeting> meetings = meetings_of(d, op);
    fmt::print("{}: {}\n", op, fate_of(d, op));
    print_traces(op);
    fmt::print(
        "\n{} can meet it{}\n", counted(meetings.size(), "pass", "passes"), meetings.empty() ? "" : ":");
    for (const meeting& m : meetings) {
        const pass_description& p = d.passes[m.pass];
        fmt::print("  {:3} {} {}\n        and may make {}\n", m.pass + 1, p.name,
            m.removes ? "removes it" : "may rewrite it", text_of(p.produces));
    }
    op_name_list left;
    const std::vector<flow_step> steps = flow_of(d, op, left);
    if (steps.size() != meetings.size()) {
        fmt::print(
            "\nThe way to TOSA, at most: what it may have become where a pass meets it; - where the pass "
            "removes all of that\n");
        for (const flow_step& s : steps) {
            fmt::print("  {:3}{} {:32} {}\n", s.pass + 1, s.gone.size() == s.met.size() ? '-' : ' ',
                d.passes[s.pass].name, text_of(s.met, " ", room));
        }
    }
    fmt::print("\nWhat can leave the pipeline: {}\n", text_of(left));
}

// A pass and its neighbours: who makes what it meets, and who meets what it makes.
void print_neighbours(const pipeline_description& d, std::size_t i) {
    const pass_description& p = d.passes[i];
    const op_name_list met = met_by(p);
    print_line("removes", ops_in_both(met, p.removes));
    print_line("may keep", ops_without(met, p.removes));
    for (std::size_t k = 0; k != d.passes.size(); ++k) {
        const op_name_list shared =
            k < i ? ops_in_both(d.passes[k].produces, met) : ops_in_both(p.produces, met_by(d.passes[k]));
        if (k == i || shared.empty() || !d.passes[k].can_fire) continue;
        fmt::print(
            "      {} {:3} {}: {}\n", k < i ? "from" : "to  ", k + 1, d.passes[k].name, text_of(shared));
    }
}

void print_passes_called(const pipeline_description& d, std::string_view name) {
    for (const std::size_t i : positions_of(d, name)) {
        print_pass(d, i);
        print_neighbours(d, i);
    }
}

// --- pictures ----------------------------------------------------------------------------------------------

void begin_picture() {
    fmt::print("digraph pipeline {{\n  rankdir=LR;\n  node [fontname=\"monospace\", fontsize=10];\n");
}

void draw_pass(const pipeline_description& d, std::size_t i) {
    const pass_description& p = d.passes[i];
    const std::string meets = p.targets.empty()
        ? "the whole graph"
        : fmt::format("{} of {} targets", met_by(p).size(), p.targets.size());
    fmt::print("  p{} [shape=box, style=\"{}\", fillcolor=lightgrey, label=\"{} {}\\n{}\"];\n", i,
        p.can_fire ? "filled" : "filled,dashed", i + 1, p.name, meets);
}

// The text of a node of ops; its tooltip has all of them.
void draw_ops(std::string_view id, const op_name_list& ops) {
    fmt::print(
        "  {} [shape=note, label=\"{}\\l\", tooltip=\"{}\"];\n", id, text_of(ops, "\\l", 6), text_of(ops));
}

// Each group of ops, each pass that can meet it, solid where it always rewrites them. The chain of passes
// keeps these in order.
void draw_pipeline(const pipeline_description& d) {
    begin_picture();
    for (std::size_t i = 0; i != d.passes.size(); ++i) {
        draw_pass(d, i);
        if (i != 0) fmt::print("  {{rank=same; p{} -> p{} [style=invis, weight=100];}}\n", i - 1, i);
    }
    std::size_t id = 0;
    for (const op_group& g : groups_of(d)) {
        if (g.met_by.empty()) continue;
        draw_ops(fmt::format("g{}", id), g.ops);
        for (const meeting& m : g.met_by)
            fmt::print("  g{} -> p{}{};\n", id, m.pass, m.removes ? "" : " [style=dashed]");
        ++id;
    }
    fmt::print("}}\n");
}

// The way of one op: what each pass meets of it, and may make of that.
void draw_op(const pipeline_description& d, std::string_view op) {
    begin_picture();
    op_name_list left;
    const std::vector<flow_step> steps = flow_of(d, op, left);
    for (std::size_t i = 0; i != steps.size(); ++i) {
        const flow_step& s = steps[i];
        draw_pass(d, s.pass);
        draw_ops(fmt::format("m{}", i), s.met);
        fmt::print("  m{} -> p{}{};\n", i, s.pass, s.gone.size() == s.met.size() ? "" : " [style=dashed]");
        // To what meets it next; each op that a pass makes is drawn there.
        for (std::size_t k = i + 1; k != steps.size(); ++k) {
            const op_name_list handed = ops_in_both(d.passes[s.pass].produces, steps[k].met);
            if (handed.empty()) continue;
            fmt::print("  p{} -> m{} [tooltip=\"{}\"];\n", s.pass, k, text_of(handed));
        }
    }
    draw_ops("left", left);
    for (const flow_step& s : steps) {
        if (!ops_in_both(d.passes[s.pass].produces, left).empty()) fmt::print("  p{} -> left;\n", s.pass);
    }
    fmt::print("}}\n");
}

void draw_passes_called(const pipeline_description& d, std::string_view name) {
    begin_picture();
    for (const std::size_t i : positions_of(d, name)) {
        const pass_description& p = d.passes[i];
        const op_name_list met = met_by(p);
        draw_pass(d, i);
        const op_name_list parts[] = {ops_in_both(met, p.removes), ops_without(met, p.removes)};
        for (std::size_t k = 0; k != 2; ++k) {
            if (parts[k].empty()) continue;
            draw_ops(fmt::format("in{}_{}", i, k), parts[k]);
            fmt::print("  in{}_{} -> p{}{};\n", i, k, i, k == 0 ? "" : " [style=dashed]");
        }
        for (std::size_t k = i + 1; k != d.passes.size(); ++k) {
            const op_name_list handed = ops_in_both(p.produces, met_by(d.passes[k]));
            if (handed.empty()) continue;
            draw_pass(d, k);
            draw_ops(fmt::format("out{}_{}", i, k), handed);
            fmt::print("  p{0} -> out{0}_{1} -> p{1};\n", i, k);
        }
    }
    fmt::print("}}\n");
}

/// Reports a name that several candidates contain or, if there are none, that may be a misspelling of one of
/// `all`.
int report_unknown(
    std::string_view kind, std::string_view name, const op_name_list& candidates, const op_name_list& all) {
    constexpr std::size_t room = 8;
    if (candidates.empty())
        return report_usage(
            fmt::format("the pipeline has no {} '{}'{}", kind, name, did_you_mean(name, all)));
    return report_usage(fmt::format(
        "the pipeline has no {} '{}'; did you mean {}?", kind, name, text_of(candidates, ", ", room)));
}

// Full names, and the short ones that --op takes as well: silu.
op_name_list spellings_of_ops(const pipeline_description& d) {
    op_name_list all = ops_of(d);
    for (const std::string_view op : ops_of(d)) all.push_back(without_overload(in_dialect(op)));
    std::ranges::sort(all);
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
}

op_name_list names_of_passes(const pipeline_description& d) {
    op_name_list all;
    for (const pass_description& p : d.passes) {
        if (std::ranges::find(all, p.name) == all.end()) all.push_back(p.name);
    }
    return all;
}

}  // namespace

int show_pipeline(const show_options& options) {
    if (!options.op.empty() && !options.pass.empty()) return report_usage("give --op or --pass, not both");
    const pipeline_description d = describe_standard_pipeline();
    op_name_list candidates;
    if (!options.op.empty()) {
        const auto op = find_op(d, options.op, candidates);
        if (!op) return report_unknown("op", options.op, candidates, spellings_of_ops(d));
        options.dot ? draw_op(d, *op) : print_op(d, *op);
    } else if (!options.pass.empty()) {
        if (!has_pass(d, options.pass, candidates))
            return report_unknown("pass", options.pass, candidates, names_of_passes(d));
        options.dot ? draw_passes_called(d, options.pass) : print_passes_called(d, options.pass);
    } else {
        options.dot ? draw_pipeline(d) : print_pipeline(d);
    }
    return status_ok;
}

}  // namespace headrace::cli
