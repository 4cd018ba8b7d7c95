// SPDX-License-Identifier: MIT
// Defines headrace::firmware::model_report: what a model's layers execute and need on a core.
#ifndef HEADRACE_FIRMWARE_REPORT_HPP
#define HEADRACE_FIRMWARE_REPORT_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <headrace/firmware/layers.hpp>
#include <headrace/firmware/plan.hpp>
#include <headrace/io/file/json_writer.hpp>

namespace headrace::firmware {

/// One call of a kernel.
struct reported_layer {
    std::string name;     ///< of the node that it computes
    std::string op;       ///< conv2d
    std::string kernel;   ///< the one that was chosen; empty where the operator has one alone
    std::string because;  ///< what kept it from a faster kernel; empty if nothing did
    std::int64_t macs = 0;
    std::optional<std::int64_t> instructions{};  ///< an estimate; none for operators without a formula
};

/// Memory in the arena, or of a state. `first` and `last` are positions among the layers; an output lives to
/// the position after the last layer.
struct reported_tensor {
    std::string name;
    std::int64_t offset = 0, bytes = 0;
    std::int64_t first = 0, last = 0;
    bool is_state = false;
};

/// A model on a core: figures in bytes, layers in the order of their execution. Layers that give states their
/// first values are left out.
struct model_report {
    std::string core{};
    std::vector<reported_layer> layers{};
    std::vector<reported_tensor> tensors{};
    arena_figures arena{};
    std::int64_t constant_bytes = 0;
    std::int64_t macs = 0;
    std::int64_t instructions = 0;  ///< of the layers with an estimate
    std::size_t estimated = 0;      ///< how many these are

    /// The tensors that live at the fullest layer, the largest first.
    [[nodiscard]] std::vector<const reported_tensor*> peak() const;
    /// The name of the fullest layer.
    [[nodiscard]] std::string fullest() const;
};

[[nodiscard]] model_report report_of(
    const written_layers& layers, const arena_figures& arena, const core_description& core);

/// Lines for people: totals, a table of the layers, the tensors at the peak.
[[nodiscard]] std::string format_report(const model_report& report);

/// A JSON object with the same.
void write_report(json_writer& w, const model_report& report);

/// With thousands apart: 5,540,000.
[[nodiscard]] std::string with_commas(std::uint64_t number);

}  // namespace headrace::firmware

#endif
