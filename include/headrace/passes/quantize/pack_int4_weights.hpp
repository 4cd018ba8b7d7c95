// SPDX-License-Identifier: MIT
// Defines headrace::pack_int4_weights.
#ifndef HEADRACE_PASSES_QUANTIZE_PACK_INT4_WEIGHTS_HPP
#define HEADRACE_PASSES_QUANTIZE_PACK_INT4_WEIGHTS_HPP

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include <headrace/infer/tosa.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/constants.hpp>

namespace headrace {

/// Stores constant weights of INT8 convolutions between -7 and 7 as INT4, two to a byte, if the target has
/// that extension (TOSA 1.0, EXT-INT4). Quantizers store such weights as INT8.
struct pack_int4_weights : pass {
    using runs_after = pass_list<tosa_only, constants_folded, layouts_chosen>;
    using runs_before = pass_list<nodes_sorted>;
    using invalidates = pass_list<nodes_sorted>;
    static constexpr std::string_view summary = "INT8 weights between -7 and 7 as INT4, two to a byte";
    using targeted_ops = ops<tosa::conv2d, tosa::conv3d, tosa::depthwise_conv2d, tosa::transpose_conv2d>;
    using produces = targeted_ops;

    template <one_of<targeted_ops> Op>
    std::optional<value> operator()(Op, const args<Op>& a, emit<produces> e) const {
        if (!e.target().has(target_feature::int4) || e.dtype(a.input) != dtype::int8) return std::nullopt;
        const auto weight = packed(e, a.weight, a.weight_zp);
        if (!weight) return std::nullopt;
        args<Op> with_int4 = a;
        with_int4.weight = *weight;
        with_int4.weight_zp =
            e.constant({dtype::int4, {1}, {}}, [](std::span<std::byte> data) { data[0] = {}; });
        return e.make<Op>(with_int4);
    }

private:
    static std::optional<value> packed(emit<ops<>> e, value weight, value zero) {
        const auto numbers = constant_integers(weight);
        const auto fits = [](std::int64_t n) { return -7 <= n && n <= 7; };
        if (e.dtype(weight) != dtype::int8 || !numbers || constant_integer(zero) != 0 ||
            !std::all_of(numbers->begin(), numbers->end(), fits))
            return std::nullopt;
        return e.constant({dtype::int4, e.shape(weight), {}}, [&](std::span<std::byte> data) {
            for (std::size_t i = 0; i != numbers->size(); ++i) {
                const auto nibble = static_cast<unsigned>((*numbers)[i]) & 0xfU;
                const auto low = i % 2 == 0 ? 0U : std::to_integer<unsigned>(data[i / 2]);
                data[i / 2] = static_cast<std::byte>(low | nibble << (i % 2 * 4));
            }
        });
    }
};
HEADRACE_COMPILED_PASS(pack_int4_weights);

}  // namespace headrace

#endif
