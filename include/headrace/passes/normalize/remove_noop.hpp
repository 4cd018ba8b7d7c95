// SPDX-License-Identifier: MIT
// Defines headrace::remove_noop.
#ifndef HEADRACE_PASSES_NORMALIZE_REMOVE_NOOP_HPP
#define HEADRACE_PASSES_NORMALIZE_REMOVE_NOOP_HPP

#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/dim_order_ops.hpp>
#include <headrace/op/op_query.hpp>
#include <headrace/pass/arithmetic.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// Removes ops that return their operand unchanged: copies, dropout at inference, casts to the same dtype,
/// expansions to the same shape. Also removes assertions and constraints on sizes: their conditions are known
/// by now, or hold by contract.
struct remove_noop : pass {
    using runs_after = pass_list<functional, canonical_casts, canonical_fills>;
    using ensures = pass_list<noops_removed>;
    static constexpr std::string_view summary =
        "removes copies, inference-time dropout and other ops that return their operand";
    using copy_ops = joined<ops_where<aten::dialect, trait::forwarding | trait::copying>,
        ops_where<dim_order_ops::dialect, trait::copying>>;
    using check_ops = ops_where<aten::dialect, trait::no_results>;
    using targeted_ops = check_ops;
    using produces = ops<>;

    static auto rewrites() {
        return rules(
            on_each<copy_ops> = [](auto x) { return x; },
            on<aten::expand, aten::expand_as, aten::broadcast_to> =
                [](auto x, const auto&) { return choose(x.shape() == x.result_meta().shape, x, unchanged); },
            on<aten::_to_copy> =
                [](auto x, const auto&) { return choose(x.dtype() == x.result_meta().dtype, x, unchanged); },
            on<aten::dropout, aten::feature_dropout, aten::alpha_dropout, aten::feature_alpha_dropout> =
                [](auto x, const auto& a) {
                    return choose(
                        a.train && a.p > 0,
                        [&] {
                            return x.unsupported(
                                "dropout: random in training; export the model in eval mode");
                        },
                        x);
                });
    }

    template <one_of<check_ops> Op>
    value_list operator()(Op, const args<Op>&, emit<produces>&) const {
        return {};
    }
};
HEADRACE_COMPILED_PASS(remove_noop);

}  // namespace headrace

#endif
