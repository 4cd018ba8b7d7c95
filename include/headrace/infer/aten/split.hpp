// SPDX-License-Identifier: MIT
// Defines the shape rules of the ops of aten that split a tensor.
#ifndef HEADRACE_INFER_ATEN_SPLIT_HPP
#define HEADRACE_INFER_ATEN_SPLIT_HPP

#include <cstddef>
#include <cstdint>
#include <optional>

#include <headrace/base/text.hpp>
#include <headrace/dialect/aten.hpp>
#include <headrace/infer/preconditions.hpp>
#include <headrace/infer/shape_builder.hpp>

namespace headrace {

namespace detail {

/// An axis of a tensor, to be split.
struct split_axis {
    const tensor_meta& self;
    std::size_t axis;

    [[nodiscard]] std::int64_t size() const { return self.shape[axis]; }
    [[nodiscard]] result<void> add(inference& out, std::int64_t part) const {
        shape_builder shape(self.shape);
        shape[axis] = part;
        return add_result(out, self.dtype, shape);
    }
};
inline result<split_axis> split_axis_of(const tensor_meta& self, std::int64_t dim) {
    HEADRACE_TRY(axis, axis_of(dim, self.rank()));
    if (self.rank() == 0) return invalid("a tensor of rank 0 cannot be split");
    return split_axis{self, axis};
}

/// More results than any real program has, so that hostile sizes do not exhaust the memory.
inline constexpr std::int64_t most_parts = 1 << 20;

inline result<void> infer_split(inference& out, const split_axis& from, std::int64_t part) {
    if (part < 0 || (part == 0 && from.size() != 0)) return invalid("parts must have a positive size");
    if (from.size() == 0) return from.add(out, 0);
    if ((from.size() - 1) / part >= most_parts) return invalid("too many parts");
    for (std::int64_t left = from.size(); left > 0; left -= part) {
        HEADRACE_TRY(from.add(out, left < part ? left : part));
    }
    return {};
}
inline result<void> infer_split_sizes(inference& out, const split_axis& from, sizes parts) {
    std::int64_t sum = 0;
    for (const std::int64_t part : parts) {
        HEADRACE_TRY(from.add(out, part));
        sum = saturating_add(sum, part);
    }
    if (sum == from.size()) return {};
    return invalid({"parts ", shape_text(parts), " do not add up to ", from.size()});
}
inline result<void> infer_sections(inference& out, const split_axis& from, std::int64_t sections) {
    if (sections <= 0 || sections > most_parts) return invalid("the number of sections is out of range");
    for (std::int64_t i = 0; i != sections; ++i) {
        HEADRACE_TRY(from.add(out, from.size() / sections + (i < from.size() % sections ? 1 : 0)));
    }
    return {};
}
/// Cuts an axis at the indices, like slices in Python.
inline result<void> infer_cuts(inference& out, const split_axis& from, sizes indices) {
    std::int64_t start = 0;
    for (const std::int64_t index : indices) {
        HEADRACE_TRY(from.add(out, clamped_slice(start, index, from.size()).count(1)));
        start = index;
    }
    return from.add(out, clamped_slice(start, std::nullopt, from.size()).count(1));
}

}  // namespace detail

template <one_of<ops<aten::chunk>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(from, detail::split_axis_of(inference::of(a.self), a.dim));
    if (a.chunks <= 0 || a.chunks > detail::most_parts)
        return invalid("the number of chunks is out of range");
    if (from.size() == 0) return detail::infer_sections(out, from, a.chunks);
    return detail::infer_split(out, from, (from.size() - 1) / a.chunks + 1);
}
template <one_of<ops<aten::split_tensor>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(from, detail::split_axis_of(inference::of(a.self), a.dim));
    return detail::infer_split(out, from, a.split_size);
}
template <one_of<ops<aten::split_with_sizes>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(from, detail::split_axis_of(inference::of(a.self), a.dim));
    return detail::infer_split_sizes(out, from, a.split_sizes);
}
template <one_of<ops<aten::tensor_split_sections>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(from, detail::split_axis_of(inference::of(a.self), a.dim));
    return detail::infer_sections(out, from, a.sections);
}
template <one_of<ops<aten::tensor_split_indices>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(from, detail::split_axis_of(inference::of(a.self), a.dim));
    return detail::infer_cuts(out, from, a.indices);
}
template <one_of<ops<aten::unbind_int>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(from, detail::split_axis_of(inference::of(a.self), a.dim));
    if (from.size() > detail::most_parts) return invalid("too many parts");
    shape_builder shape(from.self.shape);
    shape.erase(from.axis);
    for (std::int64_t i = 0; i < from.size(); ++i) {
        HEADRACE_TRY(add_result(out, from.self.dtype, shape));
    }
    return {};
}

}  // namespace headrace

#endif
