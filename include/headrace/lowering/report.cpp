// SPDX-License-Identifier: MIT
// Defines the functions of headrace/lowering/report.hpp.

#include <headrace/lowering/report.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <headrace/base/strings.hpp>
#include <headrace/ir/linear_merges.hpp>
#include <headrace/ir/time_step.hpp>

namespace headrace {

namespace {

double in_milliseconds(std::uint64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1e6; }

void write_pass_record(json_writer& w, const pass_record& p) {
    w.begin_object();
    w.member("name", p.name);
    w.member("ran", p.status == pass_status::ran);
    if (p.status == pass_status::ran) {
        w.member("rewritten", p.nodes.rewritten);
        w.member("declined", p.nodes.declined);
        w.member("ms", in_milliseconds(p.nanoseconds));
    } else {
        w.member("reason", name_of(p.status));
    }
    w.end_object();
}

void write_steps(json_writer& w, const std::vector<unrolled_step>& steps) {
    w.begin_array("unrolled");
    for (const unrolled_step& s : steps) {
        w.begin_object();
        w.member("network", s.network);
        w.member("step", s.step);
        w.member("operators", s.operators);
        w.end_object();
    }
    w.end_array();
}
void write_merges(json_writer& w, const std::vector<merged_nodes>& merges) {
    w.begin_array("merges");
    for (const merged_nodes& m : merges) {
        w.begin_object();
        w.member("result", m.result);
        w.begin_array("merged");
        for (const std::string& name : m.merged) w.value(name);
        w.end_array();
        w.member("error", m.error);
        w.end_object();
    }
    w.end_array();
}

}  // namespace

std::vector<unrolled_step> unrolled_steps(const graph& g) {
    std::map<named_step, std::size_t> found;
    for (const node& n : g.nodes()) {
        if (n.operand_count == 0) continue;
        if (const auto step = step_of(n)) ++found[*step];
    }
    std::vector<unrolled_step> steps;
    steps.reserve(found.size());
    for (const auto& [step, count] : found) steps.push_back({std::string(step.network), step.step, count});
    return steps;
}
std::vector<merged_nodes> merged_in(const graph& g) {
    std::vector<merged_nodes> all;
    for (const layer_merge& m : merges_of(g))
        all.push_back({std::string(m.result), {m.merged.begin(), m.merged.end()}, m.error});
    return all;
}

namespace detail {

void write_transposes(json_writer& w, const lowering_report& report) {
    w.begin_object("transposes");
    w.member("before", report.transposes_in);
    w.member("before_layout", report.transposes_before_layout);
    w.member("after", report.transposes_left.size());
    w.begin_array("left");
    for (const remaining_transpose& t : report.transposes_left) {
        w.begin_object();
        w.member("node", t.node);
        w.member("shape", t.shape);
        w.member("perms", t.perms);
        w.member("bytes", t.bytes);
        w.member("reason", t.reason);
        w.end_object();
    }
    w.end_array();
    w.end_object();
}

void write_stage_times(json_writer& w, const lowering_report& report) {
    w.begin_object("ms");
    for (const stage_time& s : report.stages) w.member(s.name, in_milliseconds(s.nanoseconds));
    w.end_object();
}

}  // namespace detail

std::string report_json(const lowering_report& report) {
    std::size_t ran = 0;
    node_counts total;
    for (const pass_record& p : report.passes) {
        ran += p.status == pass_status::ran;
        total.rewritten += p.nodes.rewritten;
        total.copied += p.nodes.copied;
        total.inferred += p.nodes.inferred;
    }
    json_writer w;
    w.begin_object();
    w.member("model", report.model);
    w.member("target", report.target);
    w.begin_object("nodes");
    w.member("in", report.nodes_in);
    w.member("out", report.nodes_out);
    w.end_object();
    detail::write_transposes(w, report);
    if (!report.steps.empty()) write_steps(w, report.steps);
    if (report.memory) {
        w.begin_object("memory");
        w.member("peak", report.memory->peak);
        w.member("lower_bound", report.memory->lower_bound);
        w.end_object();
    }
    if (!report.merges.empty()) write_merges(w, report.merges);
    w.member("passes_run", ran);
    w.member("passes_skipped", report.passes.size() - ran);
    w.member("nodes_rewritten", total.rewritten);
    w.member("nodes_copied", total.copied);
    w.member("nodes_inferred", total.inferred);
    detail::write_stage_times(w, report);
    w.begin_array("passes");
    for (const pass_record& p : report.passes) write_pass_record(w, p);
    w.end_array();
    if (!report.verified.empty()) {
        w.begin_array("verified");
        for (const verified_pass& v : report.verified) {
            w.begin_object();
            w.member("pass", v.pass);
            w.member("difference", v.difference);
            w.end_object();
        }
        w.end_array();
        w.member("steps_off", report.steps_off);
    }
    if (report.cost) write_vela_figures(w, *report.cost);
    w.end_object();
    return std::move(w).text();
}

std::string verified_text(std::span<const verified_pass> found) {
    if (found.empty()) return "verified: no pass changed the graph";
    const auto shown = [](double difference) {
        char digits[16];
        std::snprintf(digits, sizeof digits, "%.2g", difference);
        return std::string(digits);
    };
    std::string growth;
    double largest = 0;
    for (const verified_pass& v : found) {
        if (v.difference > largest)
            growth += join_text(growth.empty() ? "; it grew after " : ", ", v.pass, " ", shown(v.difference));
        largest = std::max(largest, v.difference);
    }
    return join_text("verified after ", found.size(), found.size() == 1 ? " pass" : " passes",
        ": the largest relative difference is ", shown(largest), growth);
}

void stage_clock::end(std::string_view stage) {
    const std::uint64_t at = steady_nanoseconds();
    const auto known = std::ranges::find(stages_, stage, &stage_time::name);
    if (known == stages_.end()) {
        stages_.push_back({std::string(stage), at - last_});
    } else {
        known->nanoseconds += at - last_;
    }
    last_ = at;
}

}  // namespace headrace
