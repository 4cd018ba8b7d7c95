// SPDX-License-Identifier: MIT
// Defines headrace::join_groups.
#ifndef HEADRACE_PASSES_NPU_JOIN_GROUPS_HPP
#define HEADRACE_PASSES_NPU_JOIN_GROUPS_HPP

#include <cstddef>
#include <cstdint>
#include <optional>

#include <headrace/base/ceil_div.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/quantize/quantization.hpp>
#include <headrace/passes/support/convolution.hpp>

namespace headrace {

struct decompose_grouped_convolution;
/// Joins the groups of a convolution, as in ShuffleNets. A convolution per group reads few channels, which
/// must be moved apart and together again, and blocks layouts: a shuffle of the channels can be folded into a
/// weight only if the weight covers all of them. Done if the products with zero take less time than the
/// moves.
struct join_groups : pass {
    using phase = decomposition;
    using runs_after = pass_list<canonical_convolutions>;
    using runs_before = pass_list<decompose_grouped_convolution>;
    static constexpr std::string_view summary =
        "a quantized convolution of groups as one of all channels, with weights of zero";

    using targeted_ops = ops<aten::convolution>;
    using produces = ops<aten::convolution, quantized_decomposed::dequantize_per_channel,
        quantized_decomposed::dequantize_per_tensor>;

    [[nodiscard]] bool should_run(const graph& g) const {
        return preferences_of(g.target()).products_per_move != 0;
    }

    std::optional<value> operator()(const args<aten::convolution>& a, emit<produces>& e) const {
        if (a.groups == 1 || a.transposed || e.rank(a.weight) != 4 || is_depthwise(e, a) || !pays(a, e))
            return std::nullopt;
        const auto weight = match_dequantize(a.weight);
        const auto zero = weight ? weight->parameters.common_zero_point() : std::nullopt;
        const auto taps = zero ? constant_integers(weight->integers) : std::nullopt;
        if (!taps || e.dtype(weight->integers) != dtype::int8) return std::nullopt;
        const shape_builder kernel(e.shape(a.weight));
        const shape_builder whole{kernel[0], kernel[1] * a.groups, kernel[2], kernel[3]};
        const value dense = build::constant_at(e, dtype::int8, whole, [&](const shape_builder& at) {
            if (at[1] / kernel[1] != at[0] / (kernel[0] / a.groups)) return *zero;
            return (*taps)[build::element_index(kernel, {at[0], at[1] % kernel[1], at[2], at[3]})];
        });
        args<aten::convolution> joined = a;
        joined.groups = 1;
        joined.weight = dequantized_as(a.weight, dense, e);
        return e.make<aten::convolution>(joined);
    }

private:
    static value dequantized_as(value like, value integers, emit<produces>& e) {
        if (const auto* channels = match<quantized_decomposed::dequantize_per_channel>(like)) {
            args<quantized_decomposed::dequantize_per_channel> a = *channels;
            a.input = integers;
            return e.make<quantized_decomposed::dequantize_per_channel>(a);
        }
        args<quantized_decomposed::dequantize_per_tensor> a =
            *match<quantized_decomposed::dequantize_per_tensor>(like);
        a.input = integers;
        return e.make<quantized_decomposed::dequantize_per_tensor>(a);
    }

    // True if the added products with zero take less time than moving the channels.
    static bool pays(const args<aten::convolution>& a, emit<produces>& e) {
        const target_preferences& target = preferences_of(e.target());
        const auto filled = [&](std::int64_t channels) {
            return ceil_div(channels, target.channels_at_once) * target.channels_at_once;
        };
        const shape_builder image(e.shape(a.input));
        const shape_builder kernel(e.shape(a.weight));
        const shape_builder result(e.result_meta().shape);
        const std::int64_t positions = result[0] * result[2] * result[3];
        const std::int64_t read = filled(kernel[1]);
        const std::int64_t written = filled(kernel[0] / a.groups);
        // In floating point, since products of sizes from a program may overflow integers.
        const auto product = [](auto... n) { return (static_cast<double>(n) * ...); };
        const double more = product(positions, kernel[2], kernel[3]) *
            (product(filled(kernel[1] * a.groups), filled(kernel[0])) - product(a.groups, read, written));
        const double moved =
            product(a.groups, image[0] * image[2] * image[3], read) + product(a.groups, positions, written);
        return more <= moved * static_cast<double>(target.products_per_move);
    }
};
HEADRACE_COMPILED_PASS(join_groups);

}  // namespace headrace

#endif
