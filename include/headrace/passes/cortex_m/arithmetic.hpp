// SPDX-License-Identifier: MIT
// Defines headrace::select_arithmetic, which makes CMSIS-NN's sums and products of TOSA's.
#ifndef HEADRACE_PASSES_CORTEX_M_ARITHMETIC_HPP
#define HEADRACE_PASSES_CORTEX_M_ARITHMETIC_HPP

#include <algorithm>
#include <cmath>
#include <optional>

#include <headrace/infer/cortex_m.hpp>
#include <headrace/match/node_pattern.hpp>
#include <headrace/passes/cortex_m/broadcasting.hpp>
#include <headrace/passes/cortex_m/scaling.hpp>

namespace headrace {

/// Makes one kernel of a sum, a difference or a product of int8 tensors that are widened to int32, and the
/// RESCALE of the result. Operands are broadcast before it, unless one is a number for each channel.
struct select_arithmetic : pass {
    static constexpr std::string_view summary = "sums and products between RESCALEs as kernels of CMSIS-NN";

    static auto rewrites() {
        return rules(on_match([](auto x, auto y) {
            return node_of<"result", tosa::rescale>(node_of<"sum", tosa::add, tosa::sub>(x, y));
        }) = code<made>([](emit<made> e, value x, value y, const auto& m) {
            return added(e, x, y, is<tosa::sub>(*find<"sum">(m)) ? -1 : 1, get<"result">(m));
        }),
            on_match([](auto x, auto y, auto shift) {
                return node_of<"result", tosa::rescale>(node_of<"product", tosa::mul>(x, y, shift));
            }) = code<made>([](emit<made> e, value x, value y, value shift, const auto& m) {
                return constant_integer(shift) == 0 ? multiplied(e, x, y, get<"result">(m)) : std::nullopt;
            }));
    }

private:
    using made = joined<cortex_m::broadcast_ops, ops<cortex_m::quantized_add, cortex_m::quantized_mul>>;

    // A function of one tensor is a table (tabulate_integers), unless the tensor is broadcast.
    static bool is_of_two(
        emit<made> e, const cortex_m::scaled_operand& x, const cortex_m::scaled_operand& y) {
        const auto is_whole = [&](value v) { return e.shape(v) == e.result_meta().shape; };
        const auto is_function_of = [&](value v, value number) {
            return cortex_m::is_number(number) && is_whole(v);
        };
        return x.integers != y.integers && !is_function_of(x.integers, y.integers) &&
            !is_function_of(y.integers, x.integers);
    }

    // The kernel shifts operands by 20 bits, and scales both to twice the larger scale (Jacob et al.,
    // Quantization and Training of Neural Networks, CVPR 2018, section A.2).
    static std::optional<value> added(
        emit<made> e, value x, value y, double sign, const args<tosa::rescale>& result) {
        constexpr int headroom = 20, max_shift = 3;
        const auto to = cortex_m::scaled_result_of(e, result);
        const auto left = cortex_m::scaled_operand_of(e, x), right = cortex_m::scaled_operand_of(e, y);
        if (!to || !left || !right || !to->has_one_factor() || !is_of_two(e, *left, *right))
            return std::nullopt;
        const double whole = 2 * std::max(left->factor, right->factor);
        const auto self = cortex_m::requantization_of(left->factor / whole);
        const auto other = cortex_m::requantization_of(sign * right->factor / whole);
        const auto output = cortex_m::requantization_of(std::ldexp(whole * to->factor(), -headroom));
        if (!self || !other || !output || output->shift > max_shift) return std::nullopt;
        const auto operands = cortex_m::broadcast(e, left->integers, right->integers);
        if (!operands) return std::nullopt;
        const value sum = e.make<cortex_m::quantized_add>({.self = operands->first,
            .self_zero_point = left->zero_point,
            .self_multiplier = self->multiplier,
            .self_shift = self->shift,
            .other = operands->second,
            .other_zero_point = right->zero_point,
            .other_multiplier = other->multiplier,
            .other_shift = other->shift,
            .output_zero_point = to->zero_point,
            .output_multiplier = output->multiplier,
            .output_shift = output->shift,
            .activation_min = -128,
            .activation_max = 127});
        return cortex_m::view(e, sum, e.result_meta().shape);
    }

    static std::optional<value> multiplied(
        emit<made> e, value x, value y, const args<tosa::rescale>& result) {
        constexpr int max_shift = 14;  // of a product of 17 bits
        const auto to = cortex_m::scaled_result_of(e, result);
        const auto left = cortex_m::scaled_operand_of(e, x), right = cortex_m::scaled_operand_of(e, y);
        if (!to || !left || !right || !to->has_one_factor() || !is_of_two(e, *left, *right))
            return std::nullopt;
        const auto output = cortex_m::requantization_of(left->factor * right->factor * to->factor());
        if (!output || output->shift > max_shift) return std::nullopt;
        const auto operands = cortex_m::broadcast(e, left->integers, right->integers);
        if (!operands) return std::nullopt;
        const value product = e.make<cortex_m::quantized_mul>({.self = operands->first,
            .self_zero_point = left->zero_point,
            .other = operands->second,
            .other_zero_point = right->zero_point,
            .output_zero_point = to->zero_point,
            .output_multiplier = output->multiplier,
            .output_shift = output->shift});
        return cortex_m::view(e, product, e.result_meta().shape);
    }
};

}  // namespace headrace

#endif
