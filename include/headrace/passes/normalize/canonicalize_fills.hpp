// SPDX-License-Identifier: MIT
// Defines headrace::canonicalize_fills.
#ifndef HEADRACE_PASSES_NORMALIZE_CANONICALIZE_FILLS_HPP
#define HEADRACE_PASSES_NORMALIZE_CANONICALIZE_FILLS_HPP

#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/dim_order_ops.hpp>
#include <headrace/infer/aten.hpp>
#include <headrace/infer/dim_order_ops.hpp>
#include <headrace/op/op_query.hpp>
#include <headrace/pass/arithmetic.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// Rewrites every tensor whose elements are all equal to aten.full with a shape and a dtype: zeros, ones, the
/// `_like` and `new_` forms, fill. The elements of `empty` may be anything, and are set to 0. fill.Tensor
/// repeats an element that is not yet known.
struct canonicalize_fills : pass {
    using runs_after = pass_list<functional, canonical_variants>;
    using ensures = pass_list<canonical_fills>;
    static constexpr std::string_view summary = "writes every tensor of equal elements as full or expand";
    using zero_ops =
        joined<ops_where<aten::dialect, trait::gives_zeros>, ops<dim_order_ops::_empty_dim_order>>;
    using one_ops = ops_where<aten::dialect, trait::gives_ones>;
    using number_ops = ops<aten::full_like, aten::new_full, aten::scalar_tensor, aten::fill_scalar>;
    using targeted_ops = joined<zero_ops, one_ops, number_ops>;
    using produces = ops<aten::full>;

    static auto rewrites() {
        return rules(on<aten::fill_tensor> = [](auto self, auto number) {
            return call<aten::expand>(as(number, self.dtype()), self.shape());
        });
    }

    template <one_of<zero_ops> Op>
    value operator()(Op, const args<Op>&, emit<produces>& e) const {
        return full(e, 0);
    }
    template <one_of<one_ops> Op>
    value operator()(Op, const args<Op>&, emit<produces>& e) const {
        return full(e, 1);
    }
    template <one_of<ops<aten::full_like, aten::new_full>> Op>
    value operator()(Op, const args<Op>& a, emit<produces>& e) const {
        return full(e, a.fill_value);
    }
    value operator()(const args<aten::scalar_tensor>& a, emit<produces>& e) const { return full(e, a.s); }
    value operator()(const args<aten::fill_scalar>& a, emit<produces>& e) const { return full(e, a.value); }

private:
    static value full(emit<produces>& e, scalar number) {
        const tensor_meta& meta = e.result_meta();
        return e.make<aten::full>({.size = meta.shape, .fill_value = number, .dtype = meta.dtype});
    }
};
HEADRACE_COMPILED_PASS(canonicalize_fills);

}  // namespace headrace

#endif
