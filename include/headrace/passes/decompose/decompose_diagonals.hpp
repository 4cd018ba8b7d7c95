// SPDX-License-Identifier: MIT
// Defines headrace::decompose_diagonals.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_DIAGONALS_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_DIAGONALS_HPP

#include <algorithm>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/infer/aten/search.hpp>
#include <headrace/passes/decompose/joining.hpp>
#include <headrace/passes/decompose/shapes.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/slicing.hpp>

namespace headrace {

/// Decomposes reads and writes of diagonals of matrices. Element i of a diagonal that begins `offset` columns
/// to the right is in column i + offset: padded to all columns, the diagonal is selected by a constant mask.
struct decompose_diagonals : pass {
    using phase = decomposition;
    static constexpr std::string_view summary =
        "diag_embed, diagonal_scatter by a mask, trace as a sum, block_diag as padded rows";
    using targeted_ops = ops<aten::block_diag, aten::cartesian_prod>;
    using produces = ops<aten::cat, aten::constant_pad_nd, aten::expand, aten::reshape, aten::_to_copy>;

    static auto rewrites() {
        return rules(
            on<aten::atleast_1d, aten::atleast_2d, aten::atleast_3d> =
                [](auto x) { return viewed(x, x.result_meta().shape); },
            on<aten::diag> =
                [](auto x, const auto& a) {
                    return choose(
                        x.rank() == 2, [&] { return call<aten::diagonal>(x, a.diagonal); },
                        [&] { return embedded(x, a.diagonal, 0, 1); });
                },
            on<aten::diag_embed> = [](auto x,
                                       const auto& a) { return embedded(x, a.offset, a.dim1, a.dim2); },
            on<aten::diagflat> = [](auto x, const auto& a) { return embedded(flat(x), a.offset, 0, 1); },
            on<aten::linalg_diagonal> =
                [](auto x, const auto& a) { return call<aten::diagonal>(x, a.offset, a.dim1, a.dim2); },
            on<aten::diagonal_scatter> =
                [](auto x, auto src, const auto& a) {
                    const int_list ends{-2, -1};
                    const int_list named{a.dim1, a.dim2};
                    const auto matrix = call<aten::movedim_intlist>(x, named, ends);
                    const std::int64_t rows = x.size(a.dim1);
                    const std::int64_t columns = x.size(a.dim2);
                    const auto written = selected(src, rows, columns, a.offset, matrix);
                    return choose(src.meta().elements() == 0, x,
                        [&] { return call<aten::movedim_intlist>(written, ends, named); });
                },
            on<aten::trace> =
                [](auto x) {
                    return call<aten::sum_dim_intlist>(call<aten::diagonal>(x), std::nullopt, false);
                });
    }

    /// Joins blocks along the diagonal: each has zeros to its left and right, and is below the one before.
    value operator()(const args<aten::block_diag>& a, emit<produces>& e) const {
        const tensor_meta& result = e.result_meta();
        value_list rows;
        std::int64_t left = 0;
        for (const value v : a.tensors) {
            const shape_builder block = matrix_shape(sizes(e.shape(v)));
            const std::int64_t right = result.shape[1] - left - block[1];
            const value matrix = cast(e, reshaped(e, v, int_list(block)), result.dtype);
            if (block[0] != 0) {
                const int_list padding{left, right};
                rows.push_back(left == 0 && right == 0
                        ? matrix
                        : e.make<aten::constant_pad_nd>({.self = matrix, .pad = padding}));
            }
            left += block[1];
        }
        if (rows.size() == 0) return e.unsupported("blocks of nothing: TOSA has no empty tensors");
        return cat(e, rows, 0);
    }
    /// Returns all combinations of one element of each tensor; the last tensor's elements change fastest.
    value operator()(const args<aten::cartesian_prod>& a, emit<produces>& e) const {
        const std::size_t count = a.tensors.size();
        if (count == 1) return reshaped(e, a.tensors[0], e.result_meta().shape);
        if (count > shape_builder::capacity) return e.unsupported("it is of more than 16 tensors");
        shape_builder grid;
        for (const value v : a.tensors) grid.push_back(e.shape(v)[0]);
        const int_list column{e.result_meta().shape[0], 1};
        value_list columns;
        for (std::size_t i = 0; i != count; ++i) {
            shape_builder line = shape_builder::filled(count, 1);
            line[i] = grid[i];
            const value v = e.make<aten::reshape>({.self = a.tensors[i], .shape = int_list(line)});
            const value spread = e.make<aten::expand>({.self = v, .size = int_list(grid)});
            columns.push_back(e.make<aten::reshape>({.self = spread, .shape = column}));
        }
        return cat(e, columns, 1);
    }

private:
    static shape_builder matrix_shape(sizes block) {
        if (block.size() == 2) return shape_builder(block);
        return {1, block.empty() ? 1 : block[0]};
    }

    // Returns `other` [..., rows, columns] with x [..., length] along its diagonal.
    static auto selected(
        const auto& x, std::int64_t rows, std::int64_t columns, std::int64_t offset, const auto& other) {
        const std::int64_t before = std::max<std::int64_t>(offset, 0);
        const std::int64_t after = columns - before - x.size(-1);
        const int_list padding{before, after};
        const auto line =
            choose(before == 0 && after == 0, x, [&] { return call<aten::constant_pad_nd>(x, padding); });
        pmr_vector<std::uint8_t> mask;
        const std::int64_t count = saturating_mul(rows, columns);
        const std::int64_t computed = x.may_compute(count, dtype::boolean) ? count : 0;
        for (std::int64_t i = 0; i != computed; ++i) mask.push_back(i % columns - i / columns == offset);
        const auto on_diagonal = x.tensor(dtype::boolean, shape_builder{rows, columns}, mask);
        return where(on_diagonal, call<aten::unsqueeze>(line, -2), other);
    }
    // Returns a square of zeros with x along its diagonal; its axes are dim1 and dim2.
    static auto embedded(const auto& x, std::int64_t offset, std::int64_t dim1, std::int64_t dim2) {
        const std::int64_t size = saturating_add(x.size(-1), offset < 0 ? saturating_sub(0, offset) : offset);
        const auto square = selected(x, size, size, offset, x.constant(0));
        const int_list ends{-2, -1};
        const int_list named{dim1, dim2};
        return choose(
            size == 0, [&] { return viewed(x, x.result_meta().shape); }, dim1 == -2 && dim2 == -1, square,
            [&] { return call<aten::movedim_intlist>(square, ends, named); });
    }
};
HEADRACE_COMPILED_PASS(decompose_diagonals);

}  // namespace headrace

#endif
