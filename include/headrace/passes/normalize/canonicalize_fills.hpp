// SPDX-License-Identifier: MIT
// Defines headrace::canonicalize_fills.
#ifndef HEADRACE_PASSES_NORMALIZE_CANONICALIZE_FILLS_HPP
#define HEADRACE_PASSES_NORMALIZE_CANONICALIZE_FILLS_HPP

#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/dim_order_ops.hpp>
#include <headrace/infer/aten.hpp>
#include <headrace/infer/dim_order_ops.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// Makes every tensor of equal elements aten.full with a shape and a dtype: zeros, ones, the `_like` and
/// `new_` forms, fill. Elements of `empty` may be anything: they are 0. fill.Tensor repeats an element that
/// is not yet known.
struct canonicalize_fills : pass {
    using runs_after = pass_list<functional, canonical_variants>;
    using ensures = pass_list<canonical_fills>;
    using zero_ops = ops<aten::zeros, aten::zeros_like, aten::new_zeros, aten::zero_inplace, aten::empty_like,
                         aten::empty_memory_format, aten::new_empty, dim_order_ops::_empty_dim_order>;
    using one_ops = ops<aten::ones, aten::ones_like, aten::new_ones>;
    using targets = joined<
        zero_ops, one_ops,
        ops<aten::full_like, aten::new_full, aten::scalar_tensor, aten::fill_scalar, aten::fill_tensor>>;
    using produces = ops<aten::full, aten::_to_copy, aten::expand>;

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
    value operator()(aten::scalar_tensor, const args<aten::scalar_tensor>& a, emit<produces>& e) const {
        return full(e, a.s);
    }
    value operator()(aten::fill_scalar, const args<aten::fill_scalar>& a, emit<produces>& e) const {
        return full(e, a.value);
    }
    value operator()(aten::fill_tensor, const args<aten::fill_tensor>& a, emit<produces>& e) const {
        value v = a.value;
        const auto& [type, shape, order] = e.meta(a.self);
        if (e.dtype(v) != type) v = e.make<aten::_to_copy>({.self = v, .dtype = type});
        return e.make<aten::expand>({.self = v, .size = shape});
    }

private:
    static value full(emit<produces>& e, scalar number) {
        const tensor_meta& meta = e.result_meta();
        return e.make<aten::full>({.size = meta.shape, .fill_value = number, .dtype = meta.dtype});
    }
};

}  // namespace headrace

#endif
