// SPDX-License-Identifier: MIT
// Defines headrace::remove_noop.
#ifndef HEADRACE_PASSES_NORMALIZE_REMOVE_NOOP_HPP
#define HEADRACE_PASSES_NORMALIZE_REMOVE_NOOP_HPP

#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/dim_order_ops.hpp>
#include <headrace/op/op_query.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// Removes what gives its operand back: copies, dropout at inference, casts to the same type, expansions to
/// the same shape. Assertions and constraints on sizes go as well: what they check is known by now, or holds
/// by contract.
struct remove_noop : pass {
    using runs_after = pass_list<functional, canonical_casts, canonical_fills>;
    using ensures = pass_list<noops_removed>;
    static constexpr std::string_view summary =
        "removes copies, inference-time dropout and other ops that return their operand";
    using copy_ops = joined<ops_where<aten::dialect, trait::forwarding | trait::copying>,
                            ops_where<dim_order_ops::dialect, trait::copying>>;
    using expand_ops = ops<aten::expand, aten::expand_as, aten::broadcast_to>;
    using check_ops = ops_where<aten::dialect, trait::no_results>;
    using targeted_ops = joined<copy_ops, expand_ops, check_ops, ops<aten::dropout, aten::_to_copy>>;
    using produces = ops<>;

    template <one_of<copy_ops> Op>
    value operator()(Op, const args<Op>& a, emit<produces>&) const {
        return a.self;
    }
    template <one_of<check_ops> Op>
    value_list operator()(Op, const args<Op>&, emit<produces>&) const {
        return {};
    }
    template <one_of<expand_ops> Op>
    std::optional<value> operator()(Op, const args<Op>& a, emit<produces>& e) const {
        if (!(e.shape(a.self) == e.result_meta().shape)) return std::nullopt;
        return a.self;
    }
    value operator()(aten::dropout, const args<aten::dropout>& a, emit<produces>& e) const {
        if (a.train && a.p > 0)
            return e.unsupported("dropout: random in training; export the model in eval mode");
        return a.input;
    }
    std::optional<value> operator()(aten::_to_copy, const args<aten::_to_copy>& a, emit<produces>& e) const {
        if (e.dtype(a.self) != e.result_meta().dtype) return std::nullopt;
        return a.self;
    }
};
HEADRACE_COMPILED_PASS(remove_noop);

}  // namespace headrace

#endif
