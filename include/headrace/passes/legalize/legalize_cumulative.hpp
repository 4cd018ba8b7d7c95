// SPDX-License-Identifier: MIT
// Defines headrace::legalize_cumulative.
#ifndef HEADRACE_PASSES_LEGALIZE_LEGALIZE_CUMULATIVE_HPP
#define HEADRACE_PASSES_LEGALIZE_LEGALIZE_CUMULATIVE_HPP

#include <algorithm>

#include <headrace/dialect/aten.hpp>
#include <headrace/passes/legalize/promoting.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/reducing.hpp>
#include <headrace/passes/support/slicing.hpp>

namespace headrace {

/// By doubling (Hillis and Steele, Data Parallel Algorithms, 1986): with s = 1, 2, 4, …, x[i] += x[i - s] or
/// x[i] *= x[i - s]. Each prefix is a tree, in FP32 or INT32, and no infinity reaches a prefix that does not
/// hold it. What is shifted in changes nothing: 1 in products, and -0 in sums, since 0 would change -0.
struct legalize_cumulative : pass {
    using phase = legalization;
    static constexpr std::string_view summary =
        "cumsum and cumprod to a logarithmic number of shifted additions or products";
    using targeted_ops = ops<aten::cumsum, aten::cumprod>;
    using produces = joined<build::widen_ops, build::reshape_ops, build::slice_ops, build::pad_ops,
                            ops<tosa::add, tosa::mul>>;

    template <one_of<targeted_ops> Op>
    value operator()(Op, const args<Op>& a, emit<produces>& e) const {
        constexpr bool adds = std::is_same_v<Op, aten::cumsum>;
        const dtype type = narrowed(e.result_meta().dtype);
        const dtype wide = build::summing_type(type);
        value v = build::with_rank(e, build::widen(e, build::widen(e, a.self, type), wide),
                                   std::max<std::size_t>(e.rank(a.self), 1));
        const std::size_t axis = build::axis_in(e, a.dim, e.rank(v));
        if (e.failed()) return {};
        const scalar nothing = !adds ? scalar(1) : is_floating(wide) ? scalar(-0.0) : scalar(0);
        const std::int64_t size = e.shape(v)[axis];
        for (std::int64_t shift = 1; shift < size; shift *= 2) {
            const value moved =
                build::pad(e, build::slice(e, v, axis, 0, size - shift), axis, shift, 0, nothing);
            v = adds ? e.make<tosa::add>(v, moved) : build::multiply(e, v, moved);
        }
        return build::cast_directly(e, build::reshape(e, v, e.result_meta().shape), type);
    }
};
HEADRACE_COMPILED_PASS(legalize_cumulative);

}  // namespace headrace

#endif
