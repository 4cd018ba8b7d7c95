// SPDX-License-Identifier: MIT
// Defines headrace::detail::sharing, how the results of ops share memory with operands.
#ifndef HEADRACE_PASSES_NORMALIZE_ALIASING_HPP
#define HEADRACE_PASSES_NORMALIZE_ALIASING_HPP

#include <headrace/passes/support/permuting.hpp>

namespace headrace::detail {

/// How a value shares memory with the operand it was made from; from `selected` to `unbound` it is a part.
enum class sharing { none, same, reshaped, permuted, selected, sliced, parts, unbound, elsewhere };

/// True if the node writes to its first operand's memory; ops such as squeeze_ only change the view.
[[nodiscard]] inline bool writes_in_place(const op_info& op) {
    return op.has(trait::in_place) && !op.functional().has(trait::aliasing);
}

/// Returns how the results of a node share memory with its first operand.
[[nodiscard]] inline sharing sharing_of(const node& n) {
    if (is<aten::dropout>(n)) return args_of<aten::dropout>(n).train ? sharing::none : sharing::same;
    const op_info& op = n.op->has(trait::in_place | trait::synonym) ? n.op->functional() : *n.op;
    if (op.has(trait::casting)) {  // a cast to the same dtype returns its operand
        const tensor_meta* from = meta_of(n.operand(0));
        return from != nullptr && n.results[0].meta && from->dtype == n.results[0].meta->dtype
            ? sharing::same
            : sharing::none;
    }
    if (op.has(trait::broadcasting)) return sharing::elsewhere;
    if (!n.op->has(trait::aliasing | trait::in_place) || writes_in_place(*n.op)) return sharing::none;
    if (op.has(trait::reshaping | trait::may_copy)) return sharing::reshaped;
    if (op.has(trait::forwarding)) return sharing::same;
    if (op.has(trait::permuting)) return sharing::permuted;
    if (op.has(trait::slicing)) return is<aten::select_int>(n) ? sharing::selected : sharing::sliced;
    if (op.has(trait::splitting)) return is<aten::unbind_int>(n) ? sharing::unbound : sharing::parts;
    return sharing::elsewhere;
}

/// Returns the axes of a view's base in the order of the view: axis i of the view is axis order[i] of it.
[[nodiscard]] inline result<shape_builder> order_of_view(const node& n, std::size_t rank) {
    shape_builder order = build::axes_in_order(rank);
    if (rank == 0) return order;
    if (const auto* a = args_if<aten::permute>(n)) return build::order_of(*a, rank);
    if (const auto* a = args_if<aten::transpose_int>(n)) return build::order_of(*a, rank);
    if (is<aten::t>(n) || is<aten::m_t>(n)) {
        if (rank >= 2) std::swap(order[rank - 2], order[rank - 1]);
    } else if (is<aten::numpy_t>(n)) {
        std::reverse(order.begin(), order.end());
    } else {
        return invalid({"the order of the axes of this view is not known"});
    }
    return order;
}

/// Returns the size along an axis, which may count from the end; 1 if there is none.
[[nodiscard]] inline std::int64_t axis_size(const tensor_meta& meta, std::int64_t axis) {
    const auto found = normalized_axis(axis, meta.rank());
    return found && *found < meta.rank() ? meta.shape[*found] : 1;
}
/// Returns an integer argument by its name.
[[nodiscard]] inline std::int64_t integer_field(const node& n, std::string_view name) {
    const field_info* f = n.op->find(name);
    return *reinterpret_cast<const std::int64_t*>(static_cast<const std::byte*>(n.arguments) + f->offset);
}

}  // namespace headrace::detail

#endif
