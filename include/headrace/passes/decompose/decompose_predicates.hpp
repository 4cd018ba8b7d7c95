// SPDX-License-Identifier: MIT
// Defines headrace::decompose_predicates.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_PREDICATES_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_PREDICATES_HPP

#include <limits>

#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/formula.hpp>

namespace headrace {

/// isnan(x) = not (x == x), isinf(x) = |x| == ∞, isfinite(x) = |x| < ∞; nan_to_num replaces the three kinds
/// of values that are not finite. Integers are always finite.
struct decompose_predicates : pass {
    using phase = function_decomposition;
    using targets = ops<aten::isnan, aten::isinf, aten::isfinite, aten::nan_to_num>;
    using produces = formula_ops;

    template <one_of<ops<aten::isnan, aten::isinf, aten::isfinite>> Op>
    value operator()(Op, const args<Op>& a, emit<produces>& e) const {
        const auto x = formula::term_of(e, a.self);
        if (!is_floating(e.dtype(a.self))) {
            return e.splat(std::is_same_v<Op, aten::isfinite>, dtype::boolean, e.shape(a.self));
        }
        if constexpr (std::is_same_v<Op, aten::isnan>) return !(x == x);
        if constexpr (std::is_same_v<Op, aten::isinf>) return abs(x) == infinity;
        return abs(x) < infinity;
    }
    value operator()(aten::nan_to_num, const args<aten::nan_to_num>& a, emit<produces>& e) const {
        const dtype type = e.dtype(a.self);
        if (!is_floating(type)) return a.self;
        auto x = formula::term_of(e, a.self);
        x = where(x == x, x, a.nan.value_or(0));
        const double largest = largest_of(type);
        x = where(x == infinity, a.posinf.value_or(largest), x);
        return where(x == -infinity, a.neginf.value_or(-largest), x);
    }

private:
    static constexpr double infinity = std::numeric_limits<double>::infinity();

    static double largest_of(dtype type) {
        if (type == dtype::float16) return 65504;
        if (type == dtype::bfloat16) return 0x1.fep127;
        return std::numeric_limits<float>::max();
    }
};

}  // namespace headrace

#endif
