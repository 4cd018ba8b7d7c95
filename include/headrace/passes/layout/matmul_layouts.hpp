// SPDX-License-Identifier: MIT
// Defines the layouts in which a MATMUL can be computed.
#ifndef HEADRACE_PASSES_LAYOUT_MATMUL_LAYOUTS_HPP
#define HEADRACE_PASSES_LAYOUT_MATMUL_LAYOUTS_HPP

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/ir/node.hpp>
#include <headrace/passes/layout/layout_algebra.hpp>
#include <headrace/passes/layout/op_layouts.hpp>

namespace headrace {

namespace layout_rules {

/// The way in which the matrices of a MATMUL's tensor are stored.
struct stored_matrices {
    std::size_t batch;          ///< place of the batch among the axes: 0, or 1 if matrices are side by side
    bool transposed;            ///< columns are stored before rows
    pmr_vector<layout> blocks;  ///< the layout within each axis

    /// Returns the axes in stored order.
    [[nodiscard]] shape_builder order() const {
        shape_builder axes = transposed ? shape_builder{2, 1} : shape_builder{1, 2};
        axes.insert(batch, 0);
        return axes;
    }
};

/// Returns how the matrices of a tensor of shape [N, H, W] are stored; none if their axes are mingled, or if
/// they are side by side and `separable` is false.
[[nodiscard]] inline std::optional<stored_matrices> matrices_in(
    const layout& l, sizes shape, bool transposed, bool separable = true) {
    for (stored_matrices found{0, transposed, {}}; found.batch != (separable ? 2 : 1); ++found.batch) {
        auto blocks = blocks_of(l, shape, found.order());
        if (!blocks) continue;
        found.blocks = std::move(*blocks);
        return found;
    }
    return std::nullopt;
}

/// How the operands and the result of a MATMUL are stored, in this order.
using matmul_matrices = std::array<stored_matrices, 3>;

/// True if matrices of any of the tensors are stored side by side.
[[nodiscard]] inline bool are_side_by_side(const matmul_matrices& all) {
    return std::ranges::any_of(all, [](const stored_matrices& m) { return m.batch != 0; });
}

inline constexpr node_port matmul_ports[] = {{0}, {1}, {}};

/// Returns how the tensors of a MATMUL are stored in layouts in which it can be computed. All of them are
/// transposed, or none is.
[[nodiscard]] inline matmul_matrices matrices_of(const node& n, const op_layouts& layouts) {
    for (const bool transposed : {false, true}) {
        const auto a = matrices_in(layouts.operands[0], shape_of(n.operand(0)), transposed);
        const auto b = matrices_in(layouts.operands[1], shape_of(n.operand(1)), transposed);
        const auto c = matrices_in(layouts.result, port_shape(n, {}), transposed);
        if (a && b && c) return {*a, *b, *c};
    }
    return {};
}

/// Returns the layouts of a MATMUL if the tensor at `port` has layout `wanted`. Its tensors share axes: the
/// batch, rows, columns, and the contracted one, each with its factors in any order. The matrices are stored
/// as they are, or all of them transposed: the product is then that of the operands in the other order. In
/// each tensor by itself, `separable` matrices may be stored side by side, such as the heads of an attention
/// among its channels: they are then multiplied one by one. If `rows_follow`, the result of such rows is
/// stored like them.
[[nodiscard]] inline std::optional<op_layouts> accommodate_matmul(const node& n, node_port port,
    const layout& wanted, const op_layouts& now, bool separable, bool rows_follow) {
    constexpr std::size_t batch = 0, rows = 1, inner = 2, columns = 3;
    constexpr std::size_t axes[3][3] = {
        {batch, rows, inner}, {batch, inner, columns}, {batch, rows, columns}};
    const sizes shape = port_shape(n, port);
    auto given = matrices_in(wanted, shape, false, separable);
    if (!given) given = matrices_in(wanted, shape, true, separable);
    if (!given) return std::nullopt;
    const std::size_t given_at = port.is_result() ? 2 : port.index;
    // Axes that the wanted layout does not determine are unchanged.
    matmul_matrices all = matrices_of(n, now);
    layout within_axis[4];
    for (std::size_t t = 0; t != 3; ++t) {
        for (std::size_t d = 0; d != 3; ++d) within_axis[axes[t][d]] = all[t].blocks[d];
    }
    for (std::size_t d = 0; d != 3; ++d) within_axis[axes[given_at][d]] = given->blocks[d];
    if (rows_follow && given_at == (given->transposed ? 1 : 0)) all[2].batch = given->batch;
    op_layouts found{pmr_vector<layout>(2), {}};
    for (std::size_t t = 0; t != 3; ++t) {
        stored_matrices& m = t == given_at ? *given : all[t];
        m.transposed = given->transposed;
        for (std::size_t d = 0; d != 3; ++d) m.blocks[d] = within_axis[axes[t][d]];
        (t == 2 ? found.result : found.operands[t]) =
            from_blocks(port_shape(n, matmul_ports[t]), m.blocks, m.order());
    }
    return found;
}

}  // namespace layout_rules

}  // namespace headrace

#endif
