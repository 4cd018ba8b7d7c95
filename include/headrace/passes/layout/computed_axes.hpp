// SPDX-License-Identifier: MIT
// Defines headrace::computed_axis, an axis of an op that is computed in another layout.
#ifndef HEADRACE_PASSES_LAYOUT_COMPUTED_AXES_HPP
#define HEADRACE_PASSES_LAYOUT_COMPUTED_AXES_HPP

#include <cstdint>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/passes/layout/layout_rules.hpp>

namespace headrace {

inline constexpr std::size_t no_axis = SIZE_MAX;

/// An axis of the tensors that an op is computed on: part of one of the op's own axes, or several of them
/// merged.
struct computed_axis {
    std::int64_t size;
    std::size_t axis;  ///< axis of the op; the first one if several are merged
    bool whole;        ///< it is an entire axis, along which the op works
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
            (((apart & 1U << d) | (apart & 1U << runs.back().axis)) == 0 ||
                (!whole && !runs.back().whole && d == runs.back().axis));
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
            return fine;
        }
    }
    return next == fine.size() ? padded : fine;
}

}  // namespace headrace

#endif
