// SPDX-License-Identifier: MIT
// Defines headrace::legalize_any_all.
#ifndef HEADRACE_PASSES_LEGALIZE_LEGALIZE_ANY_ALL_HPP
#define HEADRACE_PASSES_LEGALIZE_LEGALIZE_ANY_ALL_HPP

#include <headrace/dialect/aten.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/casting.hpp>
#include <headrace/passes/support/reducing.hpp>

namespace headrace {

/// Lowers any and all to REDUCE_ANY and REDUCE_ALL (TOSA 1.0, 2.8.1 and 2.8.2); numbers count as true unless
/// they are 0.
struct legalize_any_all : pass {
    using phase = legalization;
    using targets = ops<aten::any, aten::any_dim, aten::any_dims, aten::all, aten::all_dim, aten::all_dims>;
    using produces = joined<build::cast_ops, build::reshape_ops, ops<tosa::reduce_any, tosa::reduce_all>>;

    template <one_of<ops<aten::any, aten::any_dim, aten::any_dims>> Op>
    value operator()(Op, const args<Op>& a, emit<produces>& e) const {
        return reduced<tosa::reduce_any>(a, e);
    }
    template <one_of<ops<aten::all, aten::all_dim, aten::all_dims>> Op>
    value operator()(Op, const args<Op>& a, emit<produces>& e) const {
        return reduced<tosa::reduce_all>(a, e);
    }

private:
    template <op_tag To, class Args>
    static value reduced(const Args& a, emit<produces>& e) {
        // An empty list of axes, where one can be given, reduces nothing.
        const value truth = build::cast(e, a.self, dtype::boolean);
        const value result = build::reduce(
            e, truth, a,
            [&](value v, std::size_t axis) {
                return e.make<To>({.input = v, .axis = static_cast<std::int64_t>(axis)});
            },
            no_axes::none);
        return build::cast(e, result, e.result_meta().dtype);
    }
};

}  // namespace headrace

#endif
