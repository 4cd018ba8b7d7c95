// SPDX-License-Identifier: MIT
// Declares how tests of passes/cortex_m build random programs of int8, and compare what these compute before
// and after passes, for each kind of core.
#ifndef HEADRACE_TESTS_SUPPORT_KERNEL_RUNS_HPP
#define HEADRACE_TESTS_SUPPORT_KERNEL_RUNS_HPP

#include <array>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "pass_test.hpp"

namespace headrace {

inline constexpr target_spec scalar_core = *parse_target("TOSA-1.0+INT+core");
inline constexpr target_spec dsp_core = *parse_target("TOSA-1.0+INT+core+dsp");
inline constexpr target_spec mve_core = *parse_target("TOSA-1.0+INT+core+mve");
inline constexpr std::array all_cores{scalar_core, dsp_core, mve_core};

/// A namespace of its own: headrace::testing's would be looked into for all that takes a program.
namespace kernel_test {

using testing::pass_runners;
using testing::program;

/// Random choices; with the same seed, a program is built the same way again.
class dice {
public:
    explicit dice(unsigned seed) : random_(seed) {}
    [[nodiscard]] std::int64_t from(std::int64_t lowest, std::int64_t highest) {
        return std::uniform_int_distribution<std::int64_t>(lowest, highest)(random_);
    }
    /// True once in that many times.
    [[nodiscard]] bool once_in(std::int64_t times) { return from(1, times) == 1; }
    /// Returns a shape with axes of 1 to `most` elements.
    [[nodiscard]] int_list shape(std::size_t rank, std::int64_t most) {
        shape_builder sizes;
        for (std::size_t i = 0; i != rank; ++i) sizes.push_back(from(1, most));
        return int_list(sizes);
    }
    /// Returns the axes from 0 to `rank` - 1 in some order.
    [[nodiscard]] int_list order(std::size_t rank);

private:
    std::mt19937 random_;
};

/// Constants and operators of quantized programs.
[[nodiscard]] value integers(
    program& p, dtype type, const int_list& shape, const std::vector<std::int64_t>& numbers);
[[nodiscard]] value number(program& p, dtype type, std::int64_t n);
[[nodiscard]] value random_integers(program& p, dice& d, dtype type, const int_list& shape,
    std::int64_t lowest = -128, std::int64_t highest = 127);
[[nodiscard]] value shape_of(program& p, const int_list& sizes);

/// A factor that RESCALE multiplies by: multiplier * 2^-shift.
struct scale {
    std::int64_t multiplier, shift;
};
/// Returns the scale with 31 bits of multiplier.
[[nodiscard]] scale scale_of(double factor);
/// Widens int8 to int32: (v - zero_point) * factor.
[[nodiscard]] value widened(program& p, value v, std::int64_t zero_point, double factor = 1);
/// How a sum becomes int8: sum * factor + zero_point, with one factor or one for each channel.
struct narrowing {
    std::vector<double> factors;
    std::int64_t zero_point = 0;
    rounding_mode rounding = rounding_mode::single_round;
};
[[nodiscard]] value narrowed(program& p, value sum, const narrowing& to);
/// Returns random factors around that number: one, or one for each of so many channels.
[[nodiscard]] std::vector<double> factors_around(dice& d, double factor, std::int64_t channels);

/// Builds a program's result. The target is that of `p.g`.
using random_program = std::function<value(program& p, dice& d)>;
/// Says what is wrong with a graph after passes; empty if nothing is.
using graph_check = std::function<std::pmr::string(const graph& g)>;

/// The demands of a test on passes.
struct kernel_demand {
    std::int64_t difference = 0;  ///< of each integer, before and after
    unsigned programs = 150;      ///< for each core
    bool leaves_tosa = false;     ///< some operators of TOSA stay
    graph_check check{};
};

/// Builds that many random programs for each kind of core, runs passes in both drivers, and compares what is
/// computed. All nodes must pass inference, and none of TOSA be left but shapes. Returns the first fault.
[[nodiscard]] std::pmr::string run_on_cores(
    const random_program& build, pass_runners passes, const kernel_demand& demand);

/// Returns the sizes of a program's buffers, in the order of its nodes.
[[nodiscard]] std::vector<std::int64_t> buffers_of(const graph& g);

}  // namespace kernel_test

/// Empty if passes make kernels of random programs, and the first of the passes rewrites each of them.
template <class First, class... Passes>
[[nodiscard]] std::pmr::string becomes_kernels(
    const kernel_test::random_program& build, const kernel_test::kernel_demand& demand = {}) {
    return kernel_test::run_on_cores(build, testing::runners_of<First, may_rewrite<Passes>...>, demand);
}

}  // namespace headrace

#endif
