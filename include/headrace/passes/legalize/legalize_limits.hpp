// SPDX-License-Identifier: MIT
// Defines headrace::legalize_limits.
#ifndef HEADRACE_PASSES_LEGALIZE_LEGALIZE_LIMITS_HPP
#define HEADRACE_PASSES_LEGALIZE_LEGALIZE_LIMITS_HPP

#include <tuple>

#include <headrace/dialect/aten.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/reducing.hpp>

namespace headrace {

/// Lowers the largest and the smallest element to REDUCE_MAX and REDUCE_MIN (TOSA 1.0, 2.8.3 and 2.8.4),
/// which propagate NaN as PyTorch does. For bools these are REDUCE_ANY and REDUCE_ALL.
struct legalize_limits : pass {
    using phase = legalization;
    static constexpr std::string_view summary = "amax, amin and their like to REDUCE_MAX and REDUCE_MIN";
    using targeted_ops = ops<aten::amax, aten::amin, aten::max, aten::min, aten::aminmax>;
    using produces = joined<build::reshape_ops,
        ops<tosa::reduce_max, tosa::reduce_min, tosa::reduce_any, tosa::reduce_all>>;

    template <one_of<ops<aten::amax, aten::max>> Op>
    value operator()(Op, const args<Op>& a, emit<produces>& e) const {
        return reduced<tosa::reduce_max, tosa::reduce_any>(a, e);
    }
    template <one_of<ops<aten::amin, aten::min>> Op>
    value operator()(Op, const args<Op>& a, emit<produces>& e) const {
        return reduced<tosa::reduce_min, tosa::reduce_all>(a, e);
    }
    std::tuple<value, value> operator()(const args<aten::aminmax>& a, emit<produces>& e) const {
        return {reduced<tosa::reduce_min, tosa::reduce_all>(a, e),
            reduced<tosa::reduce_max, tosa::reduce_any>(a, e)};
    }

private:
    template <op_tag OfNumbers, op_tag OfBools, class Args>
    static value reduced(const Args& a, emit<produces>& e) {
        return build::reduce(e, a.self, a, [&](value v, std::size_t axis) {
            return is_boolean(e.dtype(v)) ? build::along<OfBools>(e, v, axis)
                                          : build::along<OfNumbers>(e, v, axis);
        });
    }
};
HEADRACE_COMPILED_PASS(legalize_limits);

}  // namespace headrace

#endif
