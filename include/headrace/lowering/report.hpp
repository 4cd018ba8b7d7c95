// SPDX-License-Identifier: MIT
// Defines headrace::lowering_report, what a lowering did and how long it took, as data and as JSON.
#ifndef HEADRACE_LOWERING_REPORT_HPP
#define HEADRACE_LOWERING_REPORT_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
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
    void end(std::string_view stage);
    [[nodiscard]] const std::vector<stage_time>& stages() const { return stages_; }

private:
    std::vector<stage_time> stages_;
    std::uint64_t last_ = steady_nanoseconds();
};

/// A finding of --verify: the largest relative difference of an output after that pass.
struct verified_pass {
    std::string pass;
    double difference = 0;
};
/// Returns findings as a line: the largest difference, and the passes after which it grew.
[[nodiscard]] std::string verified_text(std::span<const verified_pass> found);

/// One time step of a recurrent network that was unrolled.
struct unrolled_step {
    std::string network;     ///< one layer in one direction
    std::uint32_t step = 0;  ///< from 1 on
    std::size_t operators = 0;
};
/// Returns the time steps of the unrolled networks in a graph, in order.
[[nodiscard]] std::vector<unrolled_step> unrolled_steps(const graph& g);
/// A layer that computes several of the exported program; see headrace::layer_merge.
struct merged_nodes {
    std::string result;
    std::vector<std::string> merged;
    double error = 0;
};
/// Returns what is noted of a graph.
[[nodiscard]] std::vector<merged_nodes> merged_in(const graph& g);

struct lowering_report {
    std::string model{};   ///< the file, if the user has named it
    std::string target{};  ///< as parse_target reads it
    std::size_t nodes_in = 0;
    std::size_t nodes_out = 0;
    std::size_t transposes_in = 0;             ///< of the export
    std::size_t transposes_before_layout = 0;  ///< in TOSA, before the passes that choose layouts
    pmr_vector<remaining_transpose> transposes_left{};
    std::vector<unrolled_step> steps{};   ///< of recurrent networks
    std::optional<memory_need> memory{};  ///< of the lowered nodes in order, when another order is possible
    std::vector<merged_nodes> merges{};   ///< by quantization, too, if the model was quantized first
    run_statistics passes{};
    std::vector<verified_pass> verified{};  ///< passes after which the model was executed
    /// The largest distance of an output of the lowered model from the exported program's float result, in
    /// quantization steps of the output; set by --verify.
    double steps_off = 0;
    std::vector<stage_time> stages{};
    std::optional<vela_figures> cost{};  ///< Vela's estimate for the result, if requested
};

namespace detail {

/// Writes the member `transposes` of a report and of a page's data.
void write_transposes(json_writer& w, const lowering_report& report);
/// Writes the member `ms` of both: the time of each stage.
void write_stage_times(json_writer& w, const lowering_report& report);

}  // namespace detail

/// Returns the JSON that `headrace lower --report` writes, without a final newline. Times are in
/// milliseconds.
[[nodiscard]] std::string report_json(const lowering_report& report);

}  // namespace headrace

#endif
