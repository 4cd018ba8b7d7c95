// SPDX-License-Identifier: MIT
// Defines headrace::legalize_slices.
#ifndef HEADRACE_PASSES_LEGALIZE_LEGALIZE_SLICES_HPP
#define HEADRACE_PASSES_LEGALIZE_LEGALIZE_SLICES_HPP

#include <headrace/dialect/aten.hpp>
#include <headrace/pass/rules.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/slicing.hpp>

namespace headrace {

/// Lowers ops that select part of an axis to SLICE (TOSA 1.0, 2.9.6). Steps become a reshape to [n, step], of
/// which one column is kept.
struct legalize_slices : pass {
    using phase = legalization;
    static constexpr std::string_view summary = "slice, narrow and select to SLICE";

    static auto rewrites() {
        return rules(
            on<aten::slice_tensor> =
                [](auto x, const auto& a) {
                    const slice_range range = clamped_slice(a.start, a.end, x.size(a.dim));
                    return part(x, a.dim, range.start, range.count(a.step), a.step);
                },
            on<aten::narrow> = [](auto x, const auto& a) { return part(x, a.dim, a.start, a.length); },
            on<aten::select_int> =
                [](auto x, const auto& a) {
                    return code<build::reshape>(part(x, a.dim, a.index, 1), x.result_meta().shape);
                });
    }

private:
    // Slices an axis; a negative `start` counts from the end.
    static auto part(
        const auto& x, std::int64_t dim, std::int64_t start, std::int64_t count, std::int64_t step = 1) {
        const auto refused = [&] {
            return x.unsupported(
                "a slice without elements: TOSA has no empty tensors; drop it from the model");
        };
        const auto slice = [&] {
            const std::int64_t first = start < 0 ? start + x.size(dim) : start;
            return code<build::strided_slice>(x, x.axis(dim), first, count, step);
        };
        return choose(x.result_meta().elements() == 0, refused, slice);
    }
};
HEADRACE_COMPILED_PASS(legalize_slices);

}  // namespace headrace

#endif
