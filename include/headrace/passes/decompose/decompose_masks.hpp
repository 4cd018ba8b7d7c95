// SPDX-License-Identifier: MIT
// Defines headrace::decompose_masks.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_MASKS_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_MASKS_HPP

#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/formula.hpp>

namespace headrace {

/// masked_fill(x, mask, v) = v where the mask is set, else x. tril and triu keep what is below or above a
/// diagonal: their mask is a constant, and what it hides becomes 0 even if it was NaN.
struct decompose_masks : pass {
    using phase = decomposition;
    using targets = ops<aten::masked_fill_scalar, aten::masked_fill_tensor, aten::tril, aten::triu>;
    using produces = ops<aten::where_self, aten::_to_copy>;

    value operator()(aten::masked_fill_scalar, const args<aten::masked_fill_scalar>& a,
                     emit<produces>& e) const {
        const value filling = e.splat(a.value, e.dtype(a.self), e.rank(a.self));
        return e.make<aten::where_self>(a.mask, filling, a.self);
    }
    value operator()(aten::masked_fill_tensor, const args<aten::masked_fill_tensor>& a,
                     emit<produces>& e) const {
        const value filling = as(formula::term_of(e, a.value), e.dtype(a.self));
        return e.make<aten::where_self>(a.mask, filling, a.self);
    }
    template <one_of<ops<aten::tril, aten::triu>> Op>
    value operator()(Op, const args<Op>& a, emit<produces>& e) const {
        const sizes shape = e.shape(a.self);
        if (shape.size() < 2) return e.unsupported("tril, triu: a tensor of rank 2 or more is needed");
        const std::int64_t rows = shape[shape.size() - 2];
        const std::int64_t columns = shape[shape.size() - 1];
        shape_builder mask_shape = shape_builder::filled(shape.size(), 1);
        mask_shape[shape.size() - 2] = rows;
        mask_shape[shape.size() - 1] = columns;
        const value mask =
            e.constant({dtype::boolean, int_list(mask_shape), {}}, [&](std::span<std::byte> data) {
                for (std::int64_t i = 0; i != rows * columns; ++i) {
                    const std::int64_t diagonal = i % columns - i / columns;
                    const bool kept =
                        std::is_same_v<Op, aten::tril> ? diagonal <= a.diagonal : diagonal >= a.diagonal;
                    data[static_cast<std::size_t>(i)] = static_cast<std::byte>(kept);
                }
            });
        return e.make<aten::where_self>(mask, a.self, e.splat(0, e.dtype(a.self), shape.size()));
    }
};

}  // namespace headrace

#endif
