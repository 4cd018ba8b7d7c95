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
/// which let NaN through as PyTorch does. Of bools these are REDUCE_ANY and REDUCE_ALL.
struct legalize_limits : pass {
    using phase = legalization;
    using targets = ops<aten::amax, aten::amin, aten::max, aten::min, aten::aminmax>;
    using produces = joined<build::reshape_ops,
                            ops<tosa::reduce_max, tosa::reduce_min, tosa::reduce_any, tosa::reduce_all>>;

    template <one_of<ops<aten::amax, aten::max>> Op>
    value operator()(Op, const args<Op>& a, emit<produces>& e) const {
        return largest(a, e);
    }
    template <one_of<ops<aten::amin, aten::min>> Op>
    value operator()(Op, const args<Op>& a, emit<produces>& e) const {
        return smallest(a, e);
    }
    std::tuple<value, value> operator()(const args<aten::aminmax>& a, emit<produces>& e) const {
        return {smallest(a, e), largest(a, e)};
    }

private:
    template <class Args>
    static value largest(const Args& a, emit<produces>& e) {
        return reduced<tosa::reduce_max, tosa::reduce_any>(a, e);
    }
    template <class Args>
    static value smallest(const Args& a, emit<produces>& e) {
        return reduced<tosa::reduce_min, tosa::reduce_all>(a, e);
    }
    template <op_tag OfNumbers, op_tag OfBools, class Args>
    static value reduced(const Args& a, emit<produces>& e) {
        return build::reduce(e, a.self, a, [&](value v, std::size_t i) {
            const auto axis = static_cast<std::int64_t>(i);
            return is_boolean(e.dtype(v)) ? e.make<OfBools>({.input = v, .axis = axis})
                                          : e.make<OfNumbers>({.input = v, .axis = axis});
        });
    }
};

}  // namespace headrace

#endif
