// SPDX-License-Identifier: MIT
// Defines headrace::is_view: does a node give its operand's elements in another shape, and no more?
#ifndef HEADRACE_IR_VIEWS_HPP
#define HEADRACE_IR_VIEWS_HPP

#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/tosa.hpp>
#include <headrace/ir/node.hpp>
#include <headrace/op/op_set.hpp>

namespace headrace {

namespace detail {

// Tensors lie row by row here, so what only renames axes is no computation; a permutation is one.
inline constexpr auto view_ops =
    ops_in<aten::_unsafe_view, aten::alias, aten::alias_copy, aten::contiguous, aten::detach,
           aten::detach_copy, aten::flatten_using_ints, aten::lift_fresh, aten::lift_fresh_copy,
           aten::reshape, aten::reshape_as, aten::squeeze, aten::squeeze_copy, aten::squeeze_copy_dim,
           aten::squeeze_copy_dims, aten::squeeze_dim, aten::squeeze_dims, aten::unflatten_int,
           aten::unsqueeze, aten::unsqueeze_copy, aten::view, aten::view_as, aten::view_copy, tosa::reshape>;

}  // namespace detail

/// Can the result of that node lie where its first operand lies, because it has the same elements in the same
/// order? So it is for reshapes, of TOSA and of PyTorch.
[[nodiscard]] inline bool is_view(const node& n) {
    if (!detail::view_ops.contains(*n.op) || n.result_count != 1 || n.operand_count == 0) return false;
    const tensor_meta* const from = meta_of(n.operand(0));
    const auto& to = n.results[0].meta;
    return from != nullptr && to && from->dtype == to->dtype && from->elements() == to->elements();
}

}  // namespace headrace

#endif
