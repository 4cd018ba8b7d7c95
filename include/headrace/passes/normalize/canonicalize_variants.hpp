// SPDX-License-Identifier: MIT
// Defines headrace::canonicalize_variants.
#ifndef HEADRACE_PASSES_NORMALIZE_CANONICALIZE_VARIANTS_HPP
#define HEADRACE_PASSES_NORMALIZE_CANONICALIZE_VARIANTS_HPP

#include <headrace/dialect/aten.hpp>
#include <headrace/infer/aten.hpp>
#include <headrace/op/op_query.hpp>
#include <headrace/pass/op_map.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// Replaces in-place ops, `_copy` variants of views and synonyms by one form each, so that later passes know
/// each op by one name. Values are immutable, so the forms are equivalent once `functionalize` has redirected
/// the readers of what an in-place op changes. An in-place op keeps the dtype of the tensor that it writes
/// to.
struct canonicalize_variants : pass {
    using runs_after = pass_list<functional>;
    using ensures = pass_list<canonical_variants>;
    static constexpr std::string_view summary =
        "renames in-place ops, `_copy` variants and synonyms to one form each";
    using variants = ops_where<aten::dialect, trait::variant>;
    /// Ops that read only the shape of their second operand.
    using shape_table = op_map<becomes<aten::expand_as, aten::expand>,
        becomes<aten::reshape_as, aten::reshape>, becomes<aten::view_as, aten::view>>;
    using targeted_ops = joined<variants, shape_table::keys>;
    using produces = joined<bases_of<variants>, shape_table::values, ops<aten::_to_copy>>;

    template <op_where<aten::dialect, trait::variant> Op>
        requires(Op::results == 1)
    value operator()(Op, const args<Op>& a, emit<produces>& e) const {
        using to = base_of<Op>;
        return of_result_type(e.make<to>(convert_args<to, Op>(a)), e);
    }
    template <one_of<shape_table::keys> Op>
    value operator()(Op, const args<Op>& a, emit<produces>& e) const {
        using to = shape_table::at<Op>;
        return e.make<to>(args<to>{a.self, e.result_meta().shape});
    }
    /// Ops whose number of results depends on their arguments.
    template <op_where<aten::dialect, trait::variant> Op>
        requires(Op::results == variadic_results)
    value_list operator()(Op, const args<Op>& a, emit<produces>& e) const {
        using to = base_of<Op>;
        return results_of(e.make_node<to>(convert_args<to, Op>(a)));
    }

private:
    static value of_result_type(value v, emit<ops<aten::_to_copy>> e) {
        const dtype type = e.result_meta().dtype;
        return e.dtype(v) == type ? v : e.make<aten::_to_copy>({.self = v, .dtype = type});
    }
};
HEADRACE_COMPILED_PASS(canonicalize_variants);

}  // namespace headrace

#endif
