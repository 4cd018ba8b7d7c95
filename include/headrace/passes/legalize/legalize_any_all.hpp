// SPDX-License-Identifier: MIT
// Defines headrace::legalize_any_all.
#ifndef HEADRACE_PASSES_LEGALIZE_LEGALIZE_ANY_ALL_HPP
#define HEADRACE_PASSES_LEGALIZE_LEGALIZE_ANY_ALL_HPP

#include <headrace/dialect/aten.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/casting.hpp>
#include <headrace/passes/support/reducing.hpp>

namespace headrace {

/// Lowers any and all to REDUCE_ANY and REDUCE_ALL (TOSA 1.0, 2.8.1 and 2.8.2). Numbers are true if not 0.
struct legalize_any_all : pass {
    using phase = legalization;
    static constexpr std::string_view summary = "any and all to REDUCE_ANY and REDUCE_ALL";
    using any_ops = ops<aten::any, aten::any_dim, aten::any_dims>;
    using all_ops = ops<aten::all, aten::all_dim, aten::all_dims>;
    using targeted_ops = joined<any_ops, all_ops>;
    using produces = joined<build::truth_ops, build::reshape_ops, ops<tosa::reduce_any, tosa::reduce_all>>;

    template <one_of<any_ops> Op>
    value operator()(Op, const args<Op>& a, emit<produces>& e) const {
        return reduced<tosa::reduce_any>(a, e);
    }
    template <one_of<all_ops> Op>
    value operator()(Op, const args<Op>& a, emit<produces>& e) const {
        return reduced<tosa::reduce_all>(a, e);
    }

private:
    template <class To>
    static value reduced(const auto& a, emit<produces>& e) {
        const auto step = [&](value v, std::size_t axis) { return build::along<To>(e, v, axis); };
        // An empty list of axes reduces nothing.
        return build::reduce(e, build::to_truth(e, a.self), a, step, no_axes::none);
    }
};
HEADRACE_COMPILED_PASS(legalize_any_all);

}  // namespace headrace

#endif
