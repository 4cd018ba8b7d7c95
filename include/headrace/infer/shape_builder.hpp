// SPDX-License-Identifier: MIT
// Defines headrace::shape_builder and the arithmetic of shapes, axes, windows and dtypes that shape rules and
// passes share.
#ifndef HEADRACE_INFER_SHAPE_BUILDER_HPP
#define HEADRACE_INFER_SHAPE_BUILDER_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>

#include <headrace/base/result.hpp>
#include <headrace/base/sizes.hpp>
#include <headrace/base/text.hpp>
#include <headrace/infer/inference.hpp>
#include <headrace/op/op.hpp>

namespace headrace {

/// A shape under construction. It holds up to 16 sizes; add_result refuses a shape with more.
class shape_builder {
public:
    static constexpr std::size_t capacity = 16;

    constexpr shape_builder() = default;
    constexpr shape_builder(sizes shape) { append(shape); }
    constexpr shape_builder(const int_list& shape) { append(shape); }
    constexpr shape_builder(std::initializer_list<std::int64_t> shape) {
        for (const std::int64_t size : shape) push_back(size);
    }
    [[nodiscard]] static constexpr shape_builder filled(std::size_t rank, std::int64_t size) {
        shape_builder shape;
        for (std::size_t i = 0; i != rank; ++i) shape.push_back(size);
        return shape;
    }

    constexpr void push_back(std::int64_t size) {
        if (wanted_ < capacity) items_[wanted_] = size;
        ++wanted_;
    }
    constexpr void append(sizes shape) {
        for (const std::int64_t size : shape) push_back(size);
    }
    /// Inserts a size before position `at`, which is at most size().
    constexpr void insert(std::size_t at, std::int64_t size) {
        push_back(size);
        for (std::size_t i = this->size(); i-- > at + 1;) items_[i] = items_[i - 1];
        if (at < capacity) items_[at] = size;
    }
    constexpr void erase(std::size_t at) {
        for (std::size_t i = at + 1; i < size(); ++i) items_[i - 1] = items_[i];
        if (--wanted_ < capacity) items_[wanted_] = 0;  // slots beyond size() are 0, so that shapes compare
    }

    [[nodiscard]] constexpr std::size_t size() const { return wanted_ < capacity ? wanted_ : capacity; }
    [[nodiscard]] constexpr bool empty() const { return wanted_ == 0; }
    /// True if the rank exceeds the capacity.
    [[nodiscard]] constexpr bool overflowed() const { return wanted_ > capacity; }
    [[nodiscard]] constexpr const std::int64_t* data() const { return items_.data(); }
    [[nodiscard]] constexpr std::int64_t* begin() { return items_.data(); }
    [[nodiscard]] constexpr std::int64_t* end() { return items_.data() + size(); }
    [[nodiscard]] constexpr const std::int64_t* begin() const { return items_.data(); }
    [[nodiscard]] constexpr const std::int64_t* end() const { return items_.data() + size(); }
    [[nodiscard]] constexpr std::int64_t& operator[](std::size_t i) { return items_[i]; }
    [[nodiscard]] constexpr std::int64_t operator[](std::size_t i) const { return items_[i]; }
    [[nodiscard]] constexpr std::int64_t& back() { return items_[size() - 1]; }
    constexpr operator sizes() const { return {items_.data(), size()}; }
    friend constexpr bool operator==(const shape_builder&, const shape_builder&) = default;

private:
    std::array<std::int64_t, capacity> items_{};
    std::size_t wanted_ = 0;
};

/// The error for a rank that no shape_builder holds: such a tensor is valid, but cannot be lowered.
[[nodiscard]] error rank_too_large();

/// Adds a result, unless no tensor can have that type or shape.
[[nodiscard]] result<void> add_result(inference& out, dtype type, const shape_builder& shape);
[[nodiscard]] result<void> add_result(inference& out, const tensor_meta& meta);
/// Adds a result of the given dtype with the shape of another tensor.
[[nodiscard]] result<void> add_result(inference& out, dtype type, const tensor_meta& like);

/// Refuses an operand of the wrong rank.
[[nodiscard]] result<void> require_rank(
    std::string_view what, sizes shape, std::size_t least, std::size_t most);
[[nodiscard]] result<void> require_rank(std::string_view what, sizes shape, std::size_t rank);

// --- broadcasting ----------------------------------------------------------------------------------------

/// Returns the shape to which both broadcast.
[[nodiscard]] result<shape_builder> broadcast(sizes a, sizes b);
template <class... More>
[[nodiscard]] result<shape_builder> broadcast(sizes a, sizes b, const More&... more)
    requires(sizeof...(More) != 0)
{
    HEADRACE_TRY(shape, broadcast(a, b));
    return broadcast(shape, more...);
}

/// Returns the shape of aten.expand: -1 keeps a size.
[[nodiscard]] result<shape_builder> expanded_shape(sizes from, sizes to);

/// Returns the shape of aten.view: one size may be -1.
[[nodiscard]] result<shape_builder> viewed_shape(sizes from, sizes to);

// --- axes ------------------------------------------------------------------------------------------------

/// Returns a non-negative axis of a tensor of that rank; `axis` may count from the end.
[[nodiscard]] result<std::size_t> axis_of(std::int64_t axis, std::size_t rank);

/// A set of axes.
struct axis_set {
    std::uint32_t bits = 0;

    [[nodiscard]] static constexpr axis_set all(std::size_t rank) { return {(std::uint32_t{1} << rank) - 1}; }
    [[nodiscard]] constexpr bool contains(std::size_t axis) const { return (bits >> axis & 1u) != 0; }
    constexpr void insert(std::size_t axis) { bits |= std::uint32_t{1} << axis; }
    friend constexpr bool operator==(const axis_set&, const axis_set&) = default;
};

/// The meaning of an empty list of axes.
enum class no_axes : unsigned char { all, none };

/// Returns the set of axes in a list; an axis may not be named twice.
[[nodiscard]] result<axis_set> axes_of(sizes axes, std::size_t rank, no_axes empty = no_axes::all);

/// Returns a shape after the reduction of some axes.
[[nodiscard]] constexpr shape_builder reduced_shape(sizes shape, axis_set axes, bool keepdim) {
    shape_builder left;
    for (std::size_t i = 0; i != shape.size(); ++i) {
        if (!axes.contains(i)) {
            left.push_back(shape[i]);
        } else if (keepdim) {
            left.push_back(1);
        }
    }
    return left;
}

/// Returns the order of axes of aten.permute, non-negative, each exactly once.
[[nodiscard]] result<shape_builder> permutation_of(sizes axes, std::size_t rank);

/// Returns a list for `count` dimensions; in PyTorch one number may be given for all.
[[nodiscard]] result<shape_builder> list_for(std::string_view what, sizes items, std::size_t count);

/// The start and end of a slice of an axis, both within it.
struct slice_range {
    std::int64_t start = 0;
    std::int64_t end = 0;

    [[nodiscard]] constexpr std::int64_t count(std::int64_t step) const {
        return end > start ? (end - start - 1) / step + 1 : 0;
    }
};

/// Returns Python's slice bounds: negative ones count from the end, others are clamped.
[[nodiscard]] constexpr slice_range clamped_slice(
    std::optional<std::int64_t> start, std::optional<std::int64_t> end, std::int64_t size) {
    const auto clamp = [size](std::int64_t index, std::int64_t least) {
        if (index < 0) index = saturating_add(index, size);
        return index < least ? least : index > size ? size : index;
    };
    const std::int64_t first = clamp(start.value_or(0), 0);
    return {first, clamp(end.value_or(size), first)};
}

/// Returns the start of a part when an axis of that size is cut at indices, as by torch.tensor_split. Indices
/// may decrease; the parts then overlap.
[[nodiscard]] constexpr std::int64_t part_start(sizes indices, std::size_t part, std::int64_t size) {
    return part == 0 ? 0 : clamped_slice(indices[part - 1], std::nullopt, size).start;
}

}  // namespace headrace

#ifndef HEADRACE_COMPILED
#include <headrace/infer/shape_builder_definition.hpp>
#endif

#endif
