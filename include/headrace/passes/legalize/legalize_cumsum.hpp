// SPDX-License-Identifier: MIT
// Defines headrace::legalize_cumsum.
#ifndef HEADRACE_PASSES_LEGALIZE_LEGALIZE_CUMSUM_HPP
#define HEADRACE_PASSES_LEGALIZE_LEGALIZE_CUMSUM_HPP

#include <algorithm>

#include <headrace/dialect/aten.hpp>
#include <headrace/passes/legalize/promoting.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/reducing.hpp>
#include <headrace/passes/support/slicing.hpp>

namespace headrace {

/// Computes cumsum by doubling (Hillis and Steele, Data Parallel Algorithms, 1986): for s = 1, 2, 4, …, x[i]
/// += x[i - s]. Each prefix is summed as a tree, in FP32 or INT32, and an infinity only reaches prefixes that
/// contain it. The number shifted in is -0, the only one that never changes a sum.
struct legalize_cumsum : pass {
    using phase = legalization;
    static constexpr std::string_view summary = "cumsum to a logarithmic number of shifted additions";
    using targeted_ops = ops<aten::cumsum>;
    using produces =
        joined<build::widen_ops, build::reshape_ops, build::slice_ops, build::pad_ops, ops<tosa::add>>;

    value operator()(const args<aten::cumsum>& a, emit<produces>& e) const {
        const dtype type = narrowed(e.result_meta().dtype);
        const dtype wide = build::summing_type(type);
        value v = build::with_rank(e, build::widen(e, build::widen(e, a.self, type), wide),
            std::max<std::size_t>(e.rank(a.self), 1));
        const std::size_t axis = build::axis_in(e, a.dim, e.rank(v));
        if (e.failed()) return {};
        const scalar nothing = is_floating(wide) ? scalar(-0.0) : scalar(0);
        const std::int64_t size = e.shape(v)[axis];
        for (std::int64_t shift = 1; shift < size; shift *= 2) {
            const value moved =
                build::pad(e, build::slice(e, v, axis, 0, size - shift), axis, shift, 0, nothing);
            v = e.make<tosa::add>(v, moved);
        }
        return build::cast_directly(e, build::reshape(e, v, e.result_meta().shape), type);
    }
};
HEADRACE_COMPILED_PASS(legalize_cumsum);

}  // namespace headrace

#endif
