// SPDX-License-Identifier: MIT
// Defines headrace::computed_axis, an axis of an op that is computed in another layout, and the builders of
// tensors and ops in other layouts.
#ifndef HEADRACE_PASSES_LAYOUT_COMPUTED_AXES_HPP
#define HEADRACE_PASSES_LAYOUT_COMPUTED_AXES_HPP

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/passes/layout/layout_rules.hpp>
#include <headrace/passes/support/permuting.hpp>

namespace headrace {

inline constexpr std::size_t no_axis = SIZE_MAX;

/// An axis of the tensors that an op is computed on: part of one of the op's own axes, or several of them
/// merged.
struct computed_axis {
    std::int64_t size;
    std::size_t axis;  ///< axis of the op; the first one if several are merged
    bool whole;        ///< the op works along it; it is an entire axis, or a piece of one that is reduced
};

/// Returns as few axes as possible for an op of kind::axes, in the order in which `l` stores them.
[[nodiscard]] inline pmr_vector<computed_axis> merged_axes(
    const layout_rules::axes_of_op& op, const layout& l) {
    pmr_vector<computed_axis> runs;
    const auto by_axes = along_axes(l, op.full);
    const std::uint32_t apart = op.whole | op.trailing;
    for (std::size_t i = 0; i != by_axes->axis.size(); ++i) {
        const std::size_t d = by_axes->axis_at(i);
        const std::int64_t size = by_axes->pieces.factors[static_cast<std::size_t>(by_axes->pieces.order[i])];
        const bool whole = (op.whole & 1U << d) != 0;
        const bool joins = i != 0 && op.who_has(d) == op.who_has(runs.back().axis) &&
            (((apart & 1U << d) | (apart & 1U << runs.back().axis)) == 0 || d == runs.back().axis);
        if (joins) {
            runs.back().size *= size;
        } else {
            runs.push_back({size, d, whole});
        }
    }
    return runs;
}

/// Returns the shape, along `axes`, of a tensor that has `shape` along the op's axes, whose sizes are `full`.
[[nodiscard]] inline shape_builder computed_shape(
    const pmr_vector<computed_axis>& axes, const shape_builder& full, const shape_builder& shape) {
    shape_builder result;
    for (const computed_axis& a : axes) {
        const bool has = a.axis == no_axis || shape[a.axis] == full[a.axis];
        result.push_back(has ? a.size : a.whole ? shape[a.axis] : 1);
    }
    return result;
}

/// Splits the merged axes as in the shape of an operand, which then needs no RESHAPE; returns them unchanged
/// if that is not possible. `of_operand` has the operand's sizes along the merged axes.
[[nodiscard]] inline pmr_vector<computed_axis> as_fine_as(
    const pmr_vector<computed_axis>& runs, sizes shape, sizes of_operand, bool keep_last) {
    constexpr std::size_t max_axes = 4;  // NPUs split operators with more
    const auto split = common_refinement(of_operand, shape);
    if (!split || shape.size() > max_axes) return runs;
    pmr_vector<computed_axis> fine;
    shape_builder of_fine;  // the operand's sizes along `fine`
    std::size_t at = 0;
    for (std::size_t i = 0; i != runs.size(); ++i) {
        const bool keep = runs[i].whole || of_operand[i] == 1 || (keep_last && i + 1 == runs.size());
        if (keep) {
            fine.push_back(runs[i]);
            of_fine.push_back(of_operand[i]);
        }
        for (std::int64_t left = of_operand[i]; left != 1; left /= (*split)[at++]) {
            if (keep) continue;
            fine.push_back({(*split)[at], runs[i].axis, false});
            of_fine.push_back((*split)[at]);
        }
    }
    if (fine.size() > max_axes) return runs;
    // With the operand's axes of size 1 inserted, no RESHAPE is needed.
    pmr_vector<computed_axis> padded;
    std::size_t next = 0;
    for (const std::int64_t size : shape) {
        if (next != fine.size() && of_fine[next] == size) {
            padded.push_back(fine[next++]);
        } else if (size == 1) {
            padded.push_back({1, no_axis, false});
        } else {
            return runs;
        }
    }
    return next == fine.size() ? padded : runs;
}

namespace build {

/// Transposes a tensor to another layout, by its own axes if these are fine enough: axes of size 1 then keep
/// their place.
inline value transposed(emit<permute_ops> e, value v, const layout& way) {
    const auto split = common_refinement(way.factors, e.shape(v));
    shape_builder longer_sizes;  // of axes longer than 1
    shape_builder longer_axes;
    for (std::size_t d = 0; d != e.rank(v); ++d) {
        if (e.shape(v)[d] == 1) continue;
        longer_sizes.push_back(e.shape(v)[d]);
        longer_axes.push_back(static_cast<std::int64_t>(d));
    }
    if (!split || *split != longer_sizes) return permute(e, reshape(e, v, way.factors), way.order);
    shape_builder perms = axes_in_order(e.rank(v));
    std::size_t at = 0;
    for (const std::int64_t factor : split_factors(way, *split).order) {
        perms[static_cast<std::size_t>(longer_axes[at++])] = longer_axes[static_cast<std::size_t>(factor)];
    }
    return permute(e, v, perms);
}
/// Reorders a tensor along an axis.
inline value reordered(
    emit<permute_ops> e, value v, std::size_t axis, const layout& l, const shape_builder& shape) {
    pmr_vector<layout> blocks(shape.size());
    blocks[axis] = l;
    const layout way = from_blocks(shape, blocks, axes_in_order(shape.size()));
    return reshape(e, transposed(e, v, way), shape);
}

/// Makes a shape operand with `per_axis` items for each axis; they are `otherwise` for merged axes.
inline value for_each_axis(emit<ops<tosa::const_shape>> e, const pmr_vector<computed_axis>& axes, value items,
    std::size_t per_axis, std::int64_t otherwise) {
    const int_list& old = match<tosa::const_shape>(items)->values;
    shape_builder values;
    for (const computed_axis& x : axes) {
        for (std::size_t i = 0; i != per_axis; ++i)
            values.push_back(x.whole ? old[per_axis * x.axis + i] : otherwise);
    }
    return const_shape(e, values);
}
/// Reduces one after the other the axes that the pieces of a reduced axis are stored in.
template <class Op>
value reduced_along(emit<ops<Op>> e, args<Op> a, value v, const pmr_vector<computed_axis>& axes) {
    const auto axis = static_cast<std::size_t>(a.axis);
    for (std::size_t i = 0; i != axes.size(); ++i) {
        if (axes[i].axis != axis) continue;
        detail::operand_at<Op>(0, a) = v;
        a.axis = static_cast<std::int64_t>(i);
        v = e.template make<Op>(a);
    }
    return v;
}
/// Makes an op that works along whole axes, on operands with the computed axes.
template <class Op>
value computed_along(emit<ops<Op, tosa::const_shape>> e, args<Op> a, const pmr_vector<value>& operands,
    const pmr_vector<computed_axis>& axes, const layout_rules::axes_of_op& op) {
    if constexpr (has_trait<Op>(trait::reduction)) {
        return reduced_along<Op>(e, a, operands[0], axes);
    }
    if constexpr (requires { a.axis; }) {
        const auto is_worked = [&](const computed_axis& x) {
            return x.axis == static_cast<std::size_t>(a.axis);
        };
        a.axis = std::ranges::find_if(axes, is_worked) - axes.begin();
    }
    if constexpr (std::is_same_v<Op, tosa::concat>) {
        a.input1 = list<value>(operands);
    } else {
        detail::operand_at<Op>(0, a) = operands[0];
    }
    if constexpr (std::is_same_v<Op, tosa::slice>) {
        a.start = for_each_axis(e, axes, a.start, 1, 0);
        a.size = const_shape(e, computed_shape(axes, op.full, op.result));
    } else if constexpr (std::is_same_v<Op, tosa::pad>) {
        a.padding = for_each_axis(e, axes, a.padding, 2, 0);
    } else if constexpr (std::is_same_v<Op, tosa::tile>) {
        shape_builder multiples = computed_shape(axes, op.full, op.result);
        const shape_builder once = computed_shape(axes, op.full, op.operands[0]);
        for (std::size_t i = 0; i != once.size(); ++i) multiples[i] /= once[i];
        a.multiples = const_shape(e, multiples);
    }
    return e.template make<Op>(a);
}
/// Calls computed_along for the op of a node.
template <class... Ops>
value along_axes(emit<joined<ops<Ops...>, ops<tosa::const_shape>>> e, const node& n,
    const pmr_vector<value>& operands, const pmr_vector<computed_axis>& axes,
    const layout_rules::axes_of_op& op, ops<Ops...>) {
    value made{};
    visit_args(ops<Ops...>{}, n,
        [&]<class Op>(Op, const args<Op>& a) { made = computed_along<Op>(e, a, operands, axes, op); });
    return made;
}

}  // namespace build

}  // namespace headrace

#endif
