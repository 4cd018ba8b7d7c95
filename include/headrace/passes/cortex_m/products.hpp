// SPDX-License-Identifier: MIT
// Defines headrace::select_products, which makes CMSIS-NN's matrix products of TOSA's.
#ifndef HEADRACE_PASSES_CORTEX_M_PRODUCTS_HPP
#define HEADRACE_PASSES_CORTEX_M_PRODUCTS_HPP

#include <algorithm>
#include <optional>
#include <utility>

#include <headrace/infer/cortex_m.hpp>
#include <headrace/match/node_pattern.hpp>
#include <headrace/passes/cortex_m/scaling.hpp>
#include <headrace/passes/cortex_m/scratch.hpp>
#include <headrace/passes/support/build.hpp>

namespace headrace {

/// Makes one kernel of a MATMUL of int8 (TOSA 1.0, 2.2.8) and the RESCALE after it. The kernel reads the
/// second matrix transposed.
struct select_products : pass {
    static constexpr std::string_view summary = "a MATMUL and its RESCALE as a kernel of CMSIS-NN";

    static auto rewrites() {
        return rules(on_match([](auto a, auto b) {
            return node_of<"result", tosa::rescale>(node_of<"product", tosa::matmul>(a, b));
        }) = code<made>([](emit<made> e, value, value, const auto& m) {
            return multiplied(e, get<"product">(m), get<"result">(m));
        }));
    }

private:
    using made =
        joined<build::reshape_ops, ops<cortex_m::quantized_batch_matmul, tosa::transpose, memory::alloc>>;

    // The RESCALE of a softmax to the program's steps is part of the product's if it only rounds.
    static std::optional<cortex_m::scaled_operand> shares_of(emit<made> e, value v, std::int64_t zero_point) {
        const auto* const scaled = match<tosa::rescale>(build::without_reshapes(v));
        const value shares = scaled != nullptr ? build::without_reshapes(scaled->input) : value();
        const auto factors = shares ? cortex_m::detail::factors_of(*scaled) : std::nullopt;
        const auto* const kernel = shares ? match<cortex_m::softmax>(shares) : nullptr;
        if (kernel == nullptr || !factors || factors->size() != 1 ||
            constant_integer(scaled->output_zp) != zero_point)
            return std::nullopt;
        constexpr double share_of_one = 255;
        if ((*factors)[0] * share_of_one + static_cast<double>(zero_point) > 128)
            return std::nullopt;  // clamps
        return cortex_m::scaled_operand{
            build::reshape(e, shares, e.shape(v)), kernel->output_zero_point, (*factors)[0]};
    }

    static std::optional<value> multiplied(
        emit<made> e, const args<tosa::matmul>& a, const args<tosa::rescale>& result) {
        const auto to = cortex_m::scaled_result_of(e, result);
        const auto left = constant_integer(a.a_zp), right = constant_integer(a.b_zp);
        const bool is_int8 = e.dtype(a.a) == dtype::int8 && e.dtype(a.b) == dtype::int8;
        if (!to || !left || !right || !is_int8 || !to->has_one_factor()) return std::nullopt;
        const auto rows = shares_of(e, a.a, *left).value_or(cortex_m::scaled_operand{a.a, *left});
        const double largest = 2 * cortex_m::largest_product * static_cast<double>(e.shape(a.a).back());
        const auto factor = cortex_m::requantization_of(to->factor() * rows.factor, largest);
        if (!factor) return std::nullopt;
        const value columns = transposed(e, a.b);
        const std::int64_t bytes = e.target().has(target_feature::mve) ? 4 * e.shape(columns)[1] : 0;
        return e.make<cortex_m::quantized_batch_matmul>({.lhs = rows.integers,
            .lhs_zero_point = -rows.zero_point,
            .rhs_transposed = columns,
            .rhs_zero_point = -*right,
            .output_zero_point = to->zero_point,
            .output_multiplier = factor->multiplier,
            .output_shift = factor->shift,
            .scratch = cortex_m::make_scratch(e, bytes)});
    }
    // Exchanges the last two axes. A TRANSPOSE before, also seen through a RESHAPE of the axes in front,
    // becomes the only one; select_moves leaves it out if nothing moves.
    static value transposed(emit<made> e, value v) {
        const shape_builder from(e.shape(v));
        const value whole = build::without_reshapes(v);
        const auto* const before = match<tosa::transpose>(whole);
        const bool keeps_matrices = before != nullptr && e.rank(whole) >= 2 &&
            e.shape(whole).back() == from[2] && e.shape(whole)[e.rank(whole) - 2] == from[1];
        if (!keeps_matrices) return e.make<tosa::transpose>({.input1 = v, .perms = {0, 2, 1}});
        shape_builder perms(before->perms);
        std::swap(perms[perms.size() - 1], perms[perms.size() - 2]);
        const value moved = e.make<tosa::transpose>({.input1 = before->input1, .perms = int_list(perms)});
        return build::reshape(e, moved, shape_builder{from[0], from[2], from[1]});
    }
};

}  // namespace headrace

#endif
