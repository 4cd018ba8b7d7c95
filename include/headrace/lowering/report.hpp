// SPDX-License-Identifier: MIT
// Defines headrace::lowering_report, what a lowering did and how long it took, as data and as JSON.
#ifndef HEADRACE_LOWERING_REPORT_HPP
#define HEADRACE_LOWERING_REPORT_HPP

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/io/file/json_writer.hpp>
#include <headrace/io/vela/figures.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/memory/memory_order.hpp>
#include <headrace/pass/statistics.hpp>
#include <headrace/passes/layout/remaining_transposes.hpp>

namespace headrace {

/// Returns the reading of a steady clock, in nanoseconds.
[[nodiscard]] inline std::uint64_t steady_nanoseconds() {
    const auto since = std::chrono::steady_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
}

struct stage_time {
    std::string name;
    std::uint64_t nanoseconds = 0;
};

/// Times the stages of a lowering, one after the other.
class stage_clock {
public:
    /// Ends a stage. Stages of the same name are added up.
    void end(std::string_view stage) {
        const std::uint64_t at = steady_nanoseconds();
        const auto known = std::ranges::find(stages_, stage, &stage_time::name);
        if (known == stages_.end()) {
            stages_.push_back({std::string(stage), at - last_});
        } else {
            known->nanoseconds += at - last_;
        }
        last_ = at;
    }
    [[nodiscard]] const std::vector<stage_time>& stages() const { return stages_; }

private:
    std::vector<stage_time> stages_;
    std::uint64_t last_ = steady_nanoseconds();
};

/// A finding of --verify: the largest relative difference of an output after that pass.
struct verified_pass {
    std::string_view pass;
    double difference = 0;
};

struct lowering_report {
    std::string model{};   ///< the file, if the user has named it
    std::string target{};  ///< as parse_target reads it
    std::size_t nodes_in = 0;
    std::size_t nodes_out = 0;
    std::size_t transposes_in = 0;             ///< of the export
    std::size_t transposes_before_layout = 0;  ///< in TOSA, before the passes that choose layouts
    pmr_vector<remaining_transpose> transposes_left{};
    std::optional<memory_need> memory{};  ///< of the lowered nodes in order, when another order is possible
    run_statistics passes{};
    std::vector<verified_pass> verified{};  ///< passes after which the model was executed
    /// The largest distance of an output of the lowered model from the exported program's float result, in
    /// quantization steps of the output; set by --verify.
    double steps_off = 0;
    std::vector<stage_time> stages{};
    std::optional<vela_figures> cost{};  ///< Vela's estimate for the result, if requested
};

namespace detail {

[[nodiscard]] inline double in_milliseconds(std::uint64_t nanoseconds) {
    return static_cast<double>(nanoseconds) / 1e6;
}

inline void write_pass_record(json_writer& w, const pass_record& p) {
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

inline void write_transposes(json_writer& w, const lowering_report& report) {
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

}  // namespace detail

/// Returns the JSON that `headrace lower --report` writes, without a final newline. Times are in
/// milliseconds.
[[nodiscard]] inline std::string report_json(const lowering_report& report) {
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
    if (report.memory) {
        w.begin_object("memory");
        w.member("peak", report.memory->peak);
        w.member("lower_bound", report.memory->lower_bound);
        w.end_object();
    }
    w.member("passes_run", ran);
    w.member("passes_skipped", report.passes.size() - ran);
    w.member("nodes_rewritten", total.rewritten);
    w.member("nodes_copied", total.copied);
    w.member("nodes_inferred", total.inferred);
    w.begin_object("ms");
    for (const stage_time& s : report.stages) w.member(s.name, detail::in_milliseconds(s.nanoseconds));
    w.end_object();
    w.begin_array("passes");
    for (const pass_record& p : report.passes) detail::write_pass_record(w, p);
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

}  // namespace headrace

#endif
