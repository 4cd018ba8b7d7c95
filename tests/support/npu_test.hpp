// SPDX-License-Identifier: MIT
// Defines helpers for tests of passes for NPUs: random sizes, random zero points and scales, and targets.
#ifndef HEADRACE_TESTS_SUPPORT_NPU_TEST_HPP
#define HEADRACE_TESTS_SUPPORT_NPU_TEST_HPP

#include <functional>
#include <random>
#include <vector>

#include "quantized_test.hpp"

namespace headrace {

inline constexpr target_spec u55_npu = *parse_target("TOSA-1.0+INT+u55");
inline constexpr target_spec u85_npu = *parse_target("TOSA-1.0+INT+u85");

using npu_builder = std::function<void(program&)>;  // one type: tests compile once for all of them

/// A program for a target whose output is the result of `build`.
[[nodiscard]] inline npu_builder for_target(const target_spec& target, std::function<value(program&)> build) {
    return [target, build = std::move(build)](program& p) {
        p.g.set_target(target);
        p.output(build(p));
    };
}

/// True if the pipeline would run a pass for a target.
template <class Pass>
[[nodiscard]] bool runs_for(const target_spec& target) {
    graph g;
    g.set_target(target);
    return Pass{}.should_run(g);
}

/// Returns random numbers between two, both included.
class random_numbers {
public:
    explicit random_numbers(unsigned seed) : random_(seed) {}
    std::int64_t operator()(std::int64_t lowest, std::int64_t highest) {
        return std::uniform_int_distribution<std::int64_t>(lowest, highest)(random_);
    }

private:
    std::mt19937 random_;
};

/// A RESCALE by multipliers of 31 bits, one per channel or one for all, and one shift.
struct rescaling_of {
    std::vector<std::int64_t> multipliers{1 << 30};
    std::int64_t shift = 30;
    std::int64_t input_zero = 0;
    std::int64_t output_zero = 0;
    dtype to = dtype::int32;
};
[[nodiscard]] inline value rescaled_by(program& p, value v, const rescaling_of& r) {
    const auto channels = static_cast<std::int64_t>(r.multipliers.size());
    const std::vector<std::int64_t> shifts(r.multipliers.size(), r.shift);
    return p.make<tosa::rescale>({.input = v,
        .multiplier = integer_constant(p, dtype::int32, {channels}, r.multipliers),
        .shift = integer_constant(p, dtype::int8, {channels}, shifts),
        .input_zp = integer_constant(p, meta_of(v)->dtype, {1}, {r.input_zero}),
        .output_zp = integer_constant(p, r.to, {1}, {r.output_zero}),
        .per_channel = channels != 1});
}

/// A CONV2D of an input or a given value, with constant weights and zero points other than 0.
struct convolution_of {
    int_list image, weight;
    int_list pad{0, 0, 0, 0}, stride{1, 1}, dilation{1, 1};
    std::int64_t input_zero = 5, weight_zero = -3;
};
[[nodiscard]] inline value convolved_by(program& p, value input, const convolution_of& c) {
    std::vector<std::int64_t> biases;
    for (std::int64_t i = 0; i != c.weight[0]; ++i) biases.push_back(100 - 37 * i);
    return p.make<tosa::conv2d>({.input = input,
        .weight = constant_codes(p, weight_codes(1), c.weight),
        .bias = integer_constant(p, dtype::int32, {c.weight[0]}, biases),
        .input_zp = integer_constant(p, dtype::int8, {1}, {c.input_zero}),
        .weight_zp = integer_constant(p, dtype::int8, {1}, {c.weight_zero}),
        .pad = c.pad,
        .stride = c.stride,
        .dilation = c.dilation,
        .acc_type = dtype::int32});
}
[[nodiscard]] inline npu_builder convolution_for(const target_spec& target, const convolution_of& c) {
    return for_target(target, [=](program& p) { return convolved_by(p, p.input(dtype::int8, c.image), c); });
}

}  // namespace headrace

#endif
