// SPDX-License-Identifier: MIT
// Defines headrace::pack_int4_weights.
#ifndef HEADRACE_PASSES_QUANTIZE_PACK_INT4_WEIGHTS_HPP
#define HEADRACE_PASSES_QUANTIZE_PACK_INT4_WEIGHTS_HPP

#include <algorithm>
#include <cstdint>
#include <memory_resource>
#include <optional>
#include <span>

#include <headrace/infer/tosa.hpp>
#include <headrace/passes/support/build.hpp>
#include <headrace/passes/support/constants.hpp>
#include <headrace/passes/tosa_only.hpp>

namespace headrace {

/// Constant weights of convolutions over INT8 whose codes lie between -7 and 7 as INT4, two to a byte, where
/// the target has that extension (TOSA 1.0, EXT-INT4). Quantizers store such weights as INT8.
struct pack_int4_weights : pass {
    using runs_after = pass_list<tosa_only, constants_folded, layouts_chosen>;
    using runs_before = pass_list<nodes_sorted>;
    using invalidates = pass_list<nodes_sorted>;
    using targets = ops<tosa::conv2d, tosa::conv3d, tosa::depthwise_conv2d, tosa::transpose_conv2d>;
    using produces = targets;

    template <one_of<targets> Op>
    std::optional<value> operator()(Op, const args<Op>& a, emit<produces>& e) const {
        if (!e.target().has(target_feature::int4) || e.dtype(a.input) != dtype::int8 ||
            e.dtype(a.weight) != dtype::int8)
            return std::nullopt;
        const auto zero = constant_integers(a.weight_zp);
        const auto codes = constant_integers(a.weight);
        if (!codes || !zero || zero->size() != 1 || zero->front() != 0 || !fits(*codes)) return std::nullopt;
        args<Op> packed = a;
        packed.weight = e.constant({dtype::int4, e.shape(a.weight), {}}, [&](std::span<std::byte> data) {
            for (std::size_t i = 0; i != codes->size(); ++i) {
                const auto nibble = static_cast<unsigned>((*codes)[i]) & 0xfU;
                const auto both =
                    i % 2 == 0 ? nibble : std::to_integer<unsigned>(data[i / 2]) | (nibble << 4U);
                data[i / 2] = static_cast<std::byte>(both);
            }
        });
        packed.weight_zp =
            e.constant({dtype::int4, {1}, {}}, [](std::span<std::byte> data) { data[0] = {}; });
        return e.make<Op>(packed);
    }

private:
    static bool fits(const std::pmr::vector<std::int64_t>& codes) {
        constexpr std::int64_t most = 7;
        return std::all_of(codes.begin(), codes.end(),
                           [](std::int64_t code) { return -most <= code && code <= most; });
    }
};

}  // namespace headrace

#endif
