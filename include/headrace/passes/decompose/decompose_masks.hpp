// SPDX-License-Identifier: MIT
// Defines headrace::decompose_masks.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_MASKS_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_MASKS_HPP

#include <headrace/passes/decompose/triangles.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// Elements that tril and triu hide become 0 even if they were NaN: the mask is constant.
struct decompose_masks : pass {
    using phase = decomposition;
    static constexpr std::string_view summary =
        "masked_fill(x, mask, v) as where(mask, v, x); tril, triu by where";

    static auto rewrites() {
        return rules(
            on<aten::masked_fill_scalar> = [](auto x, auto mask,
                                               const auto& a) { return where(mask, x.constant(a.value), x); },
            on<aten::masked_fill_tensor> =
                [](auto x, auto mask, auto filling) { return where(mask, as(filling, x.dtype()), x); },
            on<aten::tril> =
                [](auto x, const auto& a) {
                    return keep_where(
                        x, [&](auto row, auto column) { return column - row <= a.diagonal; }, 0);
                },
            on<aten::triu> =
                [](auto x, const auto& a) {
                    return keep_where(
                        x, [&](auto row, auto column) { return column - row >= a.diagonal; }, 0);
                });
    }
};
HEADRACE_COMPILED_PASS(decompose_masks);

}  // namespace headrace

#endif
