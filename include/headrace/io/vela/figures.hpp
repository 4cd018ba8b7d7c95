// SPDX-License-Identifier: MIT
// Defines headrace::vela_figures, the cost of a model on an Ethos-U as estimated by Arm's compiler Vela.
#ifndef HEADRACE_IO_VELA_FIGURES_HPP
#define HEADRACE_IO_VELA_FIGURES_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <string>
#include <string_view>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/io/file/json_writer.hpp>

namespace headrace {

/// One operator, after Vela's fusion.
struct vela_layer {
    std::string name;  ///< of the tensor that it computes
    std::string op;
    std::uint64_t cycles = 0;
    bool on_npu = true;  ///< false: it runs on a CPU, which the estimate leaves out
};

/// All layers of one operator.
struct vela_operator {
    std::string op;
    std::size_t count = 0;
    std::uint64_t cycles = 0;
};

/// All layers of one time step of an unrolled network.
struct vela_step {
    std::string network;
    std::uint32_t step = 0;  ///< from 1 on
    std::size_t count = 0;
    std::uint64_t cycles = 0;
};

struct vela_figures {
    std::string accelerator;  ///< "ethos-u55-128"
    std::string version{};    ///< Vela's, such as "5.2.0"; empty if it is not known
    std::uint64_t cycles = 0;
    double sram_kib = 0;
    double dram_kib = 0;
    double flash_kib = 0;        ///< the constants as Vela compresses them: a board's flash holds them
    std::string constants_in{};  ///< the memory from which the NPU reads them, as Vela calls it: "DRAM"
    std::vector<vela_layer> layers;

    [[nodiscard]] std::size_t on_cpu() const {
        return static_cast<std::size_t>(std::ranges::count(layers, false, &vela_layer::on_npu));
    }
    /// Returns the number of layers on the NPU, except those that are fused with the one before and so cost
    /// nothing.
    [[nodiscard]] std::size_t on_npu() const;
    /// Returns the operators by cycles, the most first, without fused layers.
    [[nodiscard]] std::vector<vela_operator> by_operator() const;
    /// Returns the time steps of unrolled networks, in order.
    [[nodiscard]] std::vector<vela_step> by_step() const;
};

/// Reads MODEL_per-layer.csv and MODEL_summary_….csv, which Vela 5 writes with --verbose-performance. Fails
/// if a column is missing; the error names it. The summary has the size of the constants only if the NPU
/// reads them from flash; else `flash_kib` is 0.
[[nodiscard]] result<vela_figures> read_vela_figures(
    std::string accelerator, std::string_view per_layer, std::string_view summary);

/// Writes the figures as a member "cost" of an object: totals, operators, time steps and layers.
void write_vela_figures(json_writer& w, const vela_figures& figures);

}  // namespace headrace

#endif
