// SPDX-License-Identifier: MIT
// Defines headrace::legalize_permutes.
#ifndef HEADRACE_PASSES_LEGALIZE_LEGALIZE_PERMUTES_HPP
#define HEADRACE_PASSES_LEGALIZE_LEGALIZE_PERMUTES_HPP

#include <utility>

#include <headrace/dialect/aten.hpp>
#include <headrace/infer/aten_view.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/permuting.hpp>

namespace headrace {

/// Lowers every op that puts axes in another order to TRANSPOSE (TOSA 1.0, 2.9.8), or to RESHAPE where only
/// axes of size 1 move. Where the rank is above TOSA's, axes that move together are merged.
struct legalize_permutes : pass {
    using phase = legalization;
    static constexpr std::string_view summary = "permute, transpose, t and movedim to TRANSPOSE";
    using targeted_ops =
        ops<aten::permute, aten::transpose_int, aten::t, aten::movedim_int, aten::movedim_intlist>;
    using produces = build::permute_ops;

    template <one_of<targeted_ops> Op>
    value operator()(Op, const args<Op>& a, emit<produces>& e) const {
        const result<shape_builder> order = order_of(a, e.rank(a.self));
        if (!order) return e.fail(order.error());
        return build::permute(e, a.self, order.value());
    }

private:
    static result<shape_builder> order_of(const args<aten::permute>& a, std::size_t rank) {
        return permutation_of(a.dims, rank);
    }
    static result<shape_builder> order_of(const args<aten::transpose_int>& a, std::size_t rank) {
        return swapped(a.dim0, a.dim1, rank);
    }
    static result<shape_builder> order_of(const args<aten::t>&, std::size_t rank) {
        return rank < 2 ? build::axes_in_order(rank) : swapped(0, 1, rank);
    }
    static result<shape_builder> order_of(const args<aten::movedim_int>& a, std::size_t rank) {
        if (rank == 0) return build::axes_in_order(rank);
        return moved_axes(sizes(&a.source, 1), sizes(&a.destination, 1), rank);
    }
    static result<shape_builder> order_of(const args<aten::movedim_intlist>& a, std::size_t rank) {
        return moved_axes(a.source, a.destination, rank);
    }
    static result<shape_builder> swapped(std::int64_t a, std::int64_t b, std::size_t rank) {
        BOOST_OUTCOME_TRY(first, axis_of(a, rank));
        BOOST_OUTCOME_TRY(second, axis_of(b, rank));
        shape_builder order = build::axes_in_order(rank);
        std::swap(order[first], order[second]);
        return order;
    }
};
HEADRACE_COMPILED_PASS(legalize_permutes);

}  // namespace headrace

#endif
