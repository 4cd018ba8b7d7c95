// SPDX-License-Identifier: MIT
// Defines which SLICEs and CONCATs copy elements, and what copies cost where matrices are multiplied one by
// one.
#ifndef HEADRACE_PASSES_LAYOUT_COPIED_ELEMENTS_HPP
#define HEADRACE_PASSES_LAYOUT_COPIED_ELEMENTS_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <headrace/dialect/tosa.hpp>
#include <headrace/infer/tosa.hpp>
#include <headrace/ir/node.hpp>
#include <headrace/op/op_query.hpp>
#include <headrace/passes/layout/matmul_layouts.hpp>
#include <headrace/passes/layout/op_layouts.hpp>
#include <headrace/passes/npu/preferring.hpp>

namespace headrace::layout_rules {

/// True if the ops that read a SLICE compute single elements or multiply, so that it need not be copied.
[[nodiscard]] inline bool is_read_in_place(const node& slice) {
    constexpr auto reading = trait::elementwise | trait::padding;
    return std::ranges::all_of(slice.uses(), [](const edge& use) {
        const node& reader = *use.target;
        return is_of_dialect<tosa::dialect>(reader) && (reader.op->has(reading) || is<tosa::matmul>(reader));
    });
}

/// True if convolutions or products are written directly into that part of a CONCAT, which may be a CONCAT of
/// such parts itself.
[[nodiscard]] inline bool is_written_in_place(const edge& part, bool is_inner = false) {
    constexpr auto moving = trait::permuting | trait::reshaping;
    constexpr int max_steps = 8;  // from the product to the CONCAT
    const edge* e = &part;
    for (int step = 0; step != max_steps && has_one_use(*e->slot); ++step) {
        const node& n = *e->slot->producer;
        if (!is_of_dialect<tosa::dialect>(n)) return false;
        if (is<tosa::matmul>(n) || n.op->has(trait::convolving)) return true;
        if (is<tosa::concat>(n) && !is_inner) {
            return std::ranges::all_of(
                n.operand_edges(), [](const edge& inner) { return is_written_in_place(inner, true); });
        }
        if (!n.op->has(moving) && !fused_into_convolutions.contains(*n.op)) return false;
        e = &n.operands[0];
    }
    return false;
}

namespace detail {

// Returns the bytes of a MATMUL's tensor if its elements are those of the operands: the products, which have
// more bits, are narrowed before they are moved.
[[nodiscard]] inline std::int64_t narrow_bytes(const node& matmul, node_port port) {
    const tensor_meta narrow{meta_of(matmul.operand(0))->dtype, int_list(port_shape(matmul, port)), {}};
    return static_cast<std::int64_t>(packed_bytes(narrow));
}

}  // namespace detail

/// Returns the cost of multiplying matrices one by one relative to transposes of as many bytes; 0 if they are
/// not stored side by side. They are read with gaps, and the products are joined by copies.
[[nodiscard]] inline std::int64_t cost_of_matrices(const node& matmul, const matmul_matrices& stored) {
    if (!are_side_by_side(stored)) return 0;
    std::int64_t eighths = 3 * detail::narrow_bytes(matmul, {});
    for (std::size_t i = 0; i != 2; ++i) {
        if (stored[i].batch != 0) eighths += 2 * detail::narrow_bytes(matmul, {i});
    }
    return eighths / 8;
}

/// Returns an estimate of the time that the copies of such a product take, in bytes: those of the second
/// matrices, which are transposed as well if they are multiplied together, and those of the products. By
/// Vela's estimates for an Ethos-U85.
[[nodiscard]] inline std::int64_t time_of_matrices(const node& matmul, const matmul_matrices& stored) {
    constexpr std::int64_t copy = 512;  // of a few bytes
    if (!are_side_by_side(stored)) return 0;
    const std::size_t second = stored[0].transposed ? 0 : 1;
    const std::int64_t read = stored[second].batch != 0 ? detail::narrow_bytes(matmul, {second}) : 0;
    return read / 2 + detail::narrow_bytes(matmul, {}) + 2 * copy * shape_of(matmul.operand(0))[0];
}

}  // namespace headrace::layout_rules

#endif
