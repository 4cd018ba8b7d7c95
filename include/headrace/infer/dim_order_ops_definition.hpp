// SPDX-License-Identifier: MIT
// Defines the shape and dtype rules of the dim_order_ops dialect. Shapes do not show the order in memory.
#ifndef HEADRACE_INFER_DIM_ORDER_OPS_DEFINITION_HPP
#define HEADRACE_INFER_DIM_ORDER_OPS_DEFINITION_HPP

#include <optional>

#include <headrace/dialect/dim_order_ops.hpp>
#include <headrace/infer/preconditions.hpp>
#include <headrace/infer/shape_builder.hpp>

namespace headrace {

namespace detail {
/// Refuses an order that does not name each axis exactly once.
inline result<void> check_dim_order(const std::optional<int_list>& order, std::size_t rank) {
    if (!order) return {};
    for (const std::int64_t axis : *order) {
        HEADRACE_TRY(require_at_least("dim_order", axis, 0));
    }
    HEADRACE_TRY(permutation_of(*order, rank));
    return {};
}
}  // namespace detail

template <one_of<ops<dim_order_ops::_to_dim_order_copy>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(detail::check_dim_order(a.dim_order, self.rank()));
    return add_result(out, a.dtype.value_or(self.dtype), self);
}
template <one_of<ops<dim_order_ops::_clone_dim_order>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(detail::check_dim_order(a.dim_order, inference::of(a.self).rank()));
    return add_result(out, inference::of(a.self));
}
template <one_of<ops<dim_order_ops::_empty_dim_order>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(detail::check_dim_order(a.dim_order, a.size.size()));
    return add_result(out, a.dtype.value_or(dtype::float32), a.size);
}

}  // namespace headrace

#endif
