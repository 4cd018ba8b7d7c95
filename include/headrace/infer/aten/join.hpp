// SPDX-License-Identifier: MIT
// Defines the shape rules of the ops of aten that split, join, repeat and pad.
#ifndef HEADRACE_INFER_ATEN_JOIN_HPP
#define HEADRACE_INFER_ATEN_JOIN_HPP

#include <algorithm>
#include <type_traits>

#include <headrace/base/text.hpp>
#include <headrace/dialect/aten.hpp>
#include <headrace/infer/aten/view.hpp>
#include <headrace/infer/preconditions.hpp>
#include <headrace/infer/promotion.hpp>
#include <headrace/infer/shape_builder.hpp>

namespace headrace {
namespace aten {

/// Returns the shape to which hstack, vstack, dstack and column_stack reshape a tensor before joining
/// (PyTorch, torch.atleast_1d to atleast_3d).
template <class Op>
[[nodiscard]] constexpr shape_builder stacked_shape(sizes s) {
    if constexpr (std::is_same_v<Op, column_stack>) {
        return s.size() < 2 ? shape_builder{s.empty() ? 1 : s[0], 1} : shape_builder(s);
    } else if constexpr (std::is_same_v<Op, hstack>) {
        return s.empty() ? shape_builder{1} : shape_builder(s);
    } else if constexpr (std::is_same_v<Op, vstack>) {
        return s.size() < 2 ? shape_builder{1, s.empty() ? 1 : s[0]} : shape_builder(s);
    } else {
        if (s.size() > 2) return shape_builder(s);
        return s.size() == 2 ? shape_builder{s[0], s[1], 1} : shape_builder{1, s.empty() ? 1 : s[0], 1};
    }
}
/// Returns the axis along which they join tensors of that rank.
template <class Op>
[[nodiscard]] constexpr std::int64_t stacked_axis(std::size_t rank) {
    if constexpr (std::is_same_v<Op, vstack>) return 0;
    if constexpr (std::is_same_v<Op, dstack>) return 2;
    return rank == 1 ? 0 : 1;
}

using reflection_pad_ops = ops<reflection_pad1d, reflection_pad2d, reflection_pad3d>;
using replication_pad_ops = ops<replication_pad1d, replication_pad2d, replication_pad3d>;

}  // namespace aten

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

/// True if torch.cat skips the tensor: empty tensors of rank 1 may be joined with tensors of any rank.
inline bool skipped_in_cat(const tensor_meta& t) { return t.rank() == 1 && t.shape[0] == 0; }

inline result<void> infer_cat(inference& out, list<value> tensors, std::int64_t dim) {
    promotion type;
    const tensor_meta* first = nullptr;
    for (const value v : tensors) {
        const tensor_meta& t = inference::of(v);
        type.add(t);
        if (first == nullptr && !skipped_in_cat(t)) first = &t;
    }
    if (tensors.empty()) return invalid("there are no tensors to join");
    if (first == nullptr) return add_result(out, type.type(), {0});
    HEADRACE_TRY(axis, axis_of(dim, first->rank()));
    if (first->rank() == 0) return invalid("tensors of rank 0 cannot be joined");
    shape_builder shape(first->shape);
    std::int64_t sum = 0;
    for (const value v : tensors) {
        const tensor_meta& t = inference::of(v);
        if (skipped_in_cat(t)) continue;
        shape_builder expected(t.shape);
        if (axis < expected.size()) expected[axis] = first->shape[axis];
        if (expected != shape) {
            return invalid({"cannot join ", shape_text(first->shape), " and ", shape_text(t.shape),
                " along axis ", axis});
        }
        sum = saturating_add(sum, t.shape[axis]);
    }
    shape[axis] = sum;
    return add_result(out, type.type(), shape);
}

/// Infers a concatenation of tensors that are reshaped first.
template <class Shape, class Axis>
result<void> infer_stacked(inference& out, list<value> tensors, Shape&& shape_of, Axis&& axis_of_rank) {
    promotion type;
    shape_builder joined;
    std::int64_t sum = 0;
    for (const value v : tensors) {
        const tensor_meta& t = inference::of(v);
        shape_builder shape = shape_of(t.shape);
        type.add({t.dtype, int_list(shape), {}});  // no longer a number in promotion
        const auto axis = static_cast<std::size_t>(axis_of_rank(shape.size()));
        sum = saturating_add(sum, shape[axis]);
        if (!joined.empty() && joined.size() == shape.size()) shape[axis] = joined[axis];
        if (!joined.empty() && joined != shape) {
            return invalid({"cannot join ", shape_text(joined), " and ", shape_text(shape)});
        }
        joined = shape;
    }
    if (tensors.empty()) return invalid("there are no tensors to join");
    joined[static_cast<std::size_t>(axis_of_rank(joined.size()))] = sum;
    return add_result(out, type.type(), joined);
}

/// Adds `pad` to the sizes: pairs of counts before and after, the last axis first.
inline result<void> infer_padded(inference& out, const tensor_meta& self, sizes pad) {
    if (pad.size() % 2 != 0 || pad.size() / 2 > self.rank()) {
        return invalid({"padding ", shape_text(pad), " does not fit ", shape_text(self.shape)});
    }
    if (self.rank() > shape_builder::capacity) return rank_too_large();
    shape_builder shape(self.shape);
    for (std::size_t i = 0; i != pad.size() / 2; ++i) {
        std::int64_t& size = shape[self.rank() - 1 - i];
        // A negative padding crops.
        HEADRACE_TRY(require_at_least("padding", std::min(pad[2 * i], pad[2 * i + 1]), -size));
        size = saturating_add(size, saturating_add(pad[2 * i], pad[2 * i + 1]));
    }
    return add_result(out, self.dtype, shape);
}

/// Padding with elements of self, of which there must be at least one. A reflection may reach every element
/// except the edge; circular padding may wrap once around the elements left by negative amounts.
enum class pad_source : unsigned char { edge, reflection, circle };
inline result<void> infer_padded_from(inference& out, const tensor_meta& self, sizes pad, pad_source source) {
    const std::size_t count = pad.size() / 2;
    if (count == 0 || count > 3) return invalid({"padding ", shape_text(pad), " must be of 1 to 3 axes"});
    HEADRACE_TRY(require_rank("self", self.shape, count + 1, count + 2));
    const sizes padded = sizes(self.shape).last(count);
    if (source != pad_source::circle) {
        HEADRACE_TRY(require_nonempty("self", padded));
    }
    for (std::size_t i = 0; i != 2 * count && source != pad_source::edge; ++i) {
        const std::int64_t size = self.shape[self.rank() - 1 - i / 2];
        const std::int64_t kept = source == pad_source::reflection
            ? size - 1
            : saturating_add(size, std::min<std::int64_t>(pad[i ^ 1U], 0));
        if (pad[i] > kept) {
            return invalid({"padding ", shape_text(pad),
                source == pad_source::reflection ? " reflects more than " : " goes around more than ",
                shape_text(self.shape)});
        }
    }
    HEADRACE_TRY(infer_padded(out, self, pad));
    return require_nonempty("the result", sizes(out.results().back().shape).last(count));
}

inline result<void> infer_repeated(inference& out, const tensor_meta& self, sizes repeats) {
    if (repeats.size() < self.rank()) {
        return invalid({"repeats ", shape_text(repeats), " are too few for ", shape_text(self.shape)});
    }
    shape_builder shape(repeats);
    for (const std::int64_t times : repeats) {
        HEADRACE_TRY(require_at_least("repeats", times, 0));
    }
    const std::size_t lead = repeats.size() - self.rank();
    for (std::size_t i = lead; i < shape.size(); ++i)
        shape[i] = saturating_mul(shape[i], self.shape[i - lead]);
    return add_result(out, self.dtype, shape);
}

/// Shrinks or grows two spatial axes by a factor, in exchange for channels.
inline result<void> infer_pixel_shuffle(
    inference& out, const tensor_meta& self, std::int64_t factor, bool grow) {
    HEADRACE_TRY(require_rank("self", self.shape, 3, shape_builder::capacity));
    shape_builder shape(self.shape);
    std::int64_t& channels = shape[shape.size() - 3];
    std::int64_t& height = shape[shape.size() - 2];
    std::int64_t& width = shape.back();
    const std::int64_t area = saturating_mul(factor, factor);
    const bool fits =
        factor > 0 && (grow ? channels % area == 0 : height % factor == 0 && width % factor == 0);
    if (!fits) {
        return invalid({"factor ", factor, " does not divide ", shape_text(self.shape)});
    }
    channels = grow ? channels / area : saturating_mul(channels, area);
    height = grow ? saturating_mul(height, factor) : height / factor;
    width = grow ? saturating_mul(width, factor) : width / factor;
    return add_result(out, self.dtype, shape);
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

template <one_of<ops<aten::cat>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return detail::infer_cat(out, a.tensors, a.dim);
}
template <one_of<ops<aten::stack>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    if (a.tensors.empty()) return invalid("there are no tensors to stack");
    const tensor_meta& first = inference::of(a.tensors[0]);
    HEADRACE_TRY(axis, axis_of(a.dim, first.rank() + 1));
    promotion type;
    for (const value v : a.tensors) {
        const tensor_meta& t = inference::of(v);
        if (t.shape != first.shape) {
            return invalid({"cannot stack ", shape_text(first.shape), " and ", shape_text(t.shape)});
        }
        type.add(t);
    }
    shape_builder shape(first.shape);
    shape.insert(axis, static_cast<std::int64_t>(a.tensors.size()));
    return add_result(out, type.type(), shape);
}
/// Joins tensors reshaped as in NumPy: to at least one axis (hstack), two (vstack) or three (dstack), or to
/// columns (column_stack).
template <one_of<ops<aten::hstack, aten::vstack, aten::dstack, aten::column_stack>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return detail::infer_stacked(
        out, a.tensors, [](sizes s) { return aten::stacked_shape<Op>(s); }, aten::stacked_axis<Op>);
}
template <one_of<ops<aten::broadcast_tensors>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    shape_builder shape;
    for (const value v : a.tensors) {
        HEADRACE_TRY(both, broadcast(shape, inference::of(v).shape));
        shape = both;
    }
    for (const value v : a.tensors) {
        HEADRACE_TRY(add_result(out, inference::of(v).dtype, shape));
    }
    return {};
}
template <one_of<ops<aten::diff>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(axis, axis_of(a.dim, self.rank()));
    if (self.rank() == 0) return invalid("a tensor of rank 0 has no axis to take differences along");
    shape_builder shape(self.shape);
    promotion type;
    type.add(self);
    for (const std::optional<value>& more : {a.prepend, a.append}) {
        if (!more) continue;
        const tensor_meta& beside = inference::of(*more);
        HEADRACE_TRY(require_shape_beside("prepend or append", beside.shape, self.shape, axis));
        shape[axis] = saturating_add(shape[axis], beside.shape[axis]);
        type.add(beside);
    }
    HEADRACE_TRY(require_at_least("n", a.n, 0));
    shape[axis] = a.n < shape[axis] ? shape[axis] - a.n : 0;
    return add_result(out, type.type(), shape);
}
template <one_of<ops<aten::rot90>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_count("dims", a.dims.size(), 2));
    HEADRACE_TRY(require_rank("self", self.shape, 2, SIZE_MAX));
    HEADRACE_TRY(axes_of(a.dims, self.rank()));
    return a.k % 2 == 0 ? add_result(out, self) : detail::infer_transposed(out, self, a.dims[0], a.dims[1]);
}
template <one_of<ops<aten::meshgrid_indexing>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    shape_builder shape;
    if (a.tensors.empty()) return invalid("there are no tensors to span a grid");
    for (const value v : a.tensors) {
        const tensor_meta& t = inference::of(v);
        HEADRACE_TRY(require_dtype("tensor", t.dtype, inference::of(a.tensors[0]).dtype));
        HEADRACE_TRY(require_rank("tensor", t.shape, 0, 1));
        shape.push_back(t.rank() == 0 ? 1 : t.shape[0]);
    }
    if (a.indexing != "xy" && a.indexing != "ij") return invalid("indexing must be xy or ij");
    if (a.indexing == "xy" && shape.size() > 1) std::swap(shape[0], shape[1]);
    for (const value v : a.tensors) {
        HEADRACE_TRY(add_result(out, inference::of(v).dtype, shape));
    }
    return {};
}

template <one_of<ops<aten::repeat>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return detail::infer_repeated(out, inference::of(a.self), a.repeats);
}
template <one_of<ops<aten::tile>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    shape_builder repeats;
    for (std::size_t i = a.dims.size(); i < self.rank(); ++i) repeats.push_back(1);
    repeats.append(a.dims);
    if (repeats.overflowed()) return rank_too_large();
    return detail::infer_repeated(out, self, repeats);
}
template <one_of<ops<aten::repeat_interleave_self_int>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    shape_builder shape(self.shape);
    std::size_t axis = 0;
    if (a.dim) {
        HEADRACE_TRY(found, axis_of(*a.dim, self.rank()));
        axis = found;
    }
    if (!a.dim || self.rank() == 0) shape = {element_count(self.shape)};
    HEADRACE_TRY(require_at_least("repeats", a.repeats, 0));
    shape[axis] = saturating_mul(shape[axis], a.repeats);
    if (a.output_size) {
        HEADRACE_TRY(require_equal("output_size", *a.output_size, shape[axis]));
    }
    return add_result(out, self.dtype, shape);
}

template <one_of<ops<aten::pixel_shuffle>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return detail::infer_pixel_shuffle(out, inference::of(a.self), a.upscale_factor, true);
}
template <one_of<ops<aten::pixel_unshuffle>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return detail::infer_pixel_shuffle(out, inference::of(a.self), a.downscale_factor, false);
}

/// Groups of channels and the channels of a group are transposed.
template <one_of<ops<aten::channel_shuffle>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_rank("self", self.shape, 3, SIZE_MAX));
    HEADRACE_TRY(require_at_least("groups", a.groups, 1));
    if (self.shape[1] % a.groups != 0) {
        return invalid({"groups ", a.groups, " does not divide axis 1 of ", shape_text(self.shape)});
    }
    return add_result(out, self);
}
/// Keeps a triangle of each matrix in the last two axes.
template <one_of<ops<aten::tril, aten::triu>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_rank("self", self.shape, 2, SIZE_MAX));
    return add_result(out, self);
}

template <one_of<ops<aten::constant_pad_nd>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return detail::infer_padded(out, inference::of(a.self), a.pad);
}
template <one_of<ops<aten::pad>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    if (a.mode == "constant") return detail::infer_padded(out, self, a.pad);
    if (a.mode == "replicate") return detail::infer_padded_from(out, self, a.pad, detail::pad_source::edge);
    if (a.mode == "reflect")
        return detail::infer_padded_from(out, self, a.pad, detail::pad_source::reflection);
    if (a.mode == "circular") return detail::infer_padded_from(out, self, a.pad, detail::pad_source::circle);
    return invalid("mode must be constant, reflect, replicate or circular");
}
template <one_of<aten::replication_pad_ops> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(require_count("padding", a.padding.size(), 2 * spatial_rank<Op>));
    return detail::infer_padded_from(out, inference::of(a.self), a.padding, detail::pad_source::edge);
}
template <one_of<aten::reflection_pad_ops> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(require_count("padding", a.padding.size(), 2 * spatial_rank<Op>));
    return detail::infer_padded_from(out, inference::of(a.self), a.padding, detail::pad_source::reflection);
}

}  // namespace headrace

#endif
