// SPDX-License-Identifier: MIT
// Defines headrace::keep_where, which masks matrices by the row and column of each element.
#ifndef HEADRACE_PASSES_DECOMPOSE_TRIANGLES_HPP
#define HEADRACE_PASSES_DECOMPOSE_TRIANGLES_HPP

#include <headrace/base/pmr_vector.hpp>
#include <headrace/infer/shape_builder.hpp>
#include <headrace/pass/arithmetic.hpp>

namespace headrace {

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
