// SPDX-License-Identifier: MIT
// Defines the shape and dtype rules of the dim_order_ops dialect, where a shape does not show the
// order in memory.
#ifndef HEADRACE_INFER_DIM_ORDER_OPS_HPP
#define HEADRACE_INFER_DIM_ORDER_OPS_HPP

#include <headrace/dialect/dim_order_ops.hpp>
#include <headrace/infer/shape_builder.hpp>

namespace headrace {

template <one_of<ops<dim_order_ops::_to_dim_order_copy>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    return add_result(out, a.dtype.value_or(self.dtype), self.shape);
}
template <one_of<ops<dim_order_ops::_clone_dim_order>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return add_result(out, inference::of(a.self));
}
template <one_of<ops<dim_order_ops::_empty_dim_order>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return add_result(out, a.dtype.value_or(dtype::float32), a.size);
}

}  // namespace headrace

#endif
