// SPDX-License-Identifier: MIT
// Defines headrace::is_selecting and headrace::axis_after: ops that treat quantized values as real numbers.
#ifndef HEADRACE_PASSES_QUANTIZE_SELECTING_HPP
#define HEADRACE_PASSES_QUANTIZE_SELECTING_HPP

#include <algorithm>
#include <cstdint>
#include <optional>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/infer/aten/elementwise.hpp>
#include <headrace/infer/aten/join.hpp>
#include <headrace/infer/aten/view.hpp>
#include <headrace/op/op_query.hpp>
#include <headrace/passes/support/build.hpp>

namespace headrace {

/// Ops whose results consist of elements of their operands, regardless of their arguments, in the form that
/// programs have after decomposition: `move(dq(x)) = dq(move(x))` if all operands share one quantization.
/// Padding ops that are defined for a fixed number of axes repeat elements.
inline constexpr auto selecting_ops =
    set_where<aten::dialect, trait::rearranging | trait::splitting | trait::gathering | trait::nearest> |
    set_where<aten::dialect, trait::padding, trait::spatial> |
    set_where<tosa::dialect, trait::reshaping | trait::permuting> |
    ops_in<aten::amax, aten::amin, aten::max, aten::min, aten::aminmax, aten::max_pool2d, aten::scatter_src,
        aten::index_copy>;

[[nodiscard]] inline bool is_real(value v) { return meta_of(v) != nullptr && is_floating(meta_of(v)->dtype); }

/// True if the node selects elements of its operands. False for a `pad` with a constant, an index_put that
/// accumulates, and an op that converts integers among its operands.
[[nodiscard]] inline bool is_selecting(const node& n) {
    if (const auto* a = args_if<aten::cat>(n))
        return std::all_of(a->tensors.begin(), a->tensors.end(), is_real);
    if (const auto* a = args_if<aten::where_self>(n)) return is_real(a->self) && is_real(a->other);
    if (const auto* a = args_if<aten::index_put>(n)) return !a->accumulate;
    if (const auto* a = args_if<aten::_unsafe_index_put>(n)) return !a->accumulate;
    if (const auto* a = args_if<aten::pad>(n)) return a->mode != "constant";
    return selecting_ops.contains(n.op->functional());
}

/// Matches a constant_pad_nd, or a `pad` with a constant.
[[nodiscard]] inline std::optional<args<aten::constant_pad_nd>> match_constant_pad(value v) {
    if (const auto* a = match<aten::constant_pad_nd>(v)) return *a;
    const auto* a = match<aten::pad>(v);
    if (a == nullptr || a->mode != "constant") return std::nullopt;
    return args<aten::constant_pad_nd>{a->self, a->pad, scalar(a->value.value_or(0))};
}

/// Clones a node that selects elements, with quantized values in place of real numbers.
inline value cloned_on(emit<ops<>> e, value v, const pmr_vector<value>& operands) {
    const dtype reals = e.dtype(v);
    dtype integers = reals;
    for (std::size_t i = 0; i != operands.size(); ++i) {
        if (is_real(v.producer->operand(i))) integers = e.dtype(operands[i]);
    }
    node* made = e.clone(*v.producer, operands, [&](tensor_meta& meta) {
        if (meta.dtype == reals) meta.dtype = integers;
    });
    return made == nullptr ? value{} : made->result(v.result);
}

/// The place of an operand's axis in the result, and the first of its indices that remain.
struct moved_axis {
    std::size_t axis;
    std::int64_t first = 0;
};

/// Returns the axis of equal size after equally many elements; nothing if it is split or joined.
[[nodiscard]] inline std::optional<moved_axis> axis_after_reshape(
    const int_list& before, const int_list& after, std::size_t axis) {
    const auto count_before = [](const int_list& shape, std::size_t end) {
        return element_count(sizes(shape).first(end));
    };
    for (std::size_t i = 0; i != after.size(); ++i) {
        if (after[i] == before[axis] && count_before(after, i) == count_before(before, axis))
            return moved_axis{i};
    }
    return std::nullopt;
}

/// Returns the axis after an op that moves one operand's elements; nothing if it is no longer separate.
[[nodiscard]] inline std::optional<moved_axis> axis_after(const node& n, std::size_t axis) {
    const int_list& before = meta_of(n.operand(0))->shape;
    const auto permuted = [&](sizes perms) -> std::optional<moved_axis> {
        for (std::size_t i = 0; i != perms.size(); ++i) {
            if (normalized_axis(perms[i], perms.size()) == axis) return moved_axis{i};
        }
        return std::nullopt;
    };
    if (const auto* a = args_if<aten::permute>(n)) return permuted(a->dims);
    if (const auto* a = args_if<tosa::transpose>(n)) return permuted(a->perms);
    if (is<aten::t>(n)) return moved_axis{before.size() < 2 ? axis : 1 - axis};
    if (const auto* a = args_if<aten::transpose_int>(n)) {
        const auto x = normalized_axis(a->dim0, before.size());
        const auto y = normalized_axis(a->dim1, before.size());
        return moved_axis{x == axis ? *y : y == axis ? *x : axis};
    }
    if (const auto* a = args_if<aten::slice_tensor>(n)) {
        if (normalized_axis(a->dim, before.size()) != axis) return moved_axis{axis};
        if (a->step != 1) return std::nullopt;
        return moved_axis{axis, clamped_slice(a->start, a->end, before[axis]).start};
    }
    if (!n.op->has(trait::reshaping)) return std::nullopt;
    return axis_after_reshape(before, n.results[0].meta->shape, axis);
}

}  // namespace headrace

#endif
