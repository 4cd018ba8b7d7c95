// SPDX-License-Identifier: MIT
// Defines the views and masks of expressions that decompositions share.
#ifndef HEADRACE_PASSES_DECOMPOSE_SHAPES_HPP
#define HEADRACE_PASSES_DECOMPOSE_SHAPES_HPP

#include <algorithm>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/infer/shape_builder.hpp>
#include <headrace/pass/arithmetic.hpp>

namespace headrace {

/// x in another shape.
template <reading X>
[[nodiscard]] auto viewed(const X& x, const int_list& shape) {
    return choose(x.shape() == shape, x, [&] { return call<aten::view>(x, shape); });
}

/// Views x as one axis: for channel parameters, which PyTorch accepts in any shape.
template <reading X>
[[nodiscard]] auto flat(const X& x) {
    return viewed(x, int_list{x.meta().elements()});
}

/// Views [C] as [C, 1, …, 1] of that rank: channel parameters, ready to broadcast with [C, H, W].
template <reading X>
[[nodiscard]] auto along_channels(const X& x, std::size_t rank) {
    shape_builder shape = shape_builder::filled(std::min(rank, shape_builder::capacity), 1);
    shape[0] = x.meta().elements();
    return call<aten::view>(x, shape);
}

/// Returns matrices [..., rows, columns] with `other` wherever `kept(row, column)` is false.
template <reading X, class Kept>
[[nodiscard]] auto keep_where(const X& x, const Kept& kept, double other) {
    const auto masked = [&] {
        const std::int64_t rows = x.size(-2);
        const std::int64_t columns = x.size(-1);
        shape_builder shape = shape_builder::filled(x.rank() - 2, 1);
        shape.append(shape_builder{rows, columns});
        pmr_vector<std::uint8_t> mask;
        const std::int64_t count = saturating_mul(rows, columns);
        const std::int64_t computed = x.may_compute(count, dtype::boolean) ? count : 0;
        for (std::int64_t i = 0; i != computed; ++i) mask.push_back(kept(i / columns, i % columns));
        return where(x.tensor(dtype::boolean, shape, mask), x, other);
    };
    return choose(
        x.rank() < 2, [&] { return x.unsupported("a matrix is needed: a tensor of rank 2 or more"); },
        masked);
}

}  // namespace headrace

#endif
