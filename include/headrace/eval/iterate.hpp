// SPDX-License-Identifier: MIT
// Defines the loops that kernels share: over broadcast operands, strided views, and one axis.
#ifndef HEADRACE_EVAL_ITERATE_HPP
#define HEADRACE_EVAL_ITERATE_HPP

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <headrace/eval/evaluation.hpp>
#include <headrace/eval/tensor.hpp>

namespace headrace::eval {

/// Converts a signed number to an index of standard containers.
[[nodiscard]] constexpr std::size_t idx(std::int64_t i) { return static_cast<std::size_t>(i); }

/// Makes an axis non-negative; inference has checked it.
[[nodiscard]] inline std::size_t wrap_axis(std::int64_t axis, std::size_t rank) {
    return normalized_axis(axis, rank).value_or(0);
}

/// Returns strides that read a tensor of shape `from` as if it had shape `to`: 0 for broadcast axes.
[[nodiscard]] inline extents broadcast_strides(const extents& from, const extents& to) {
    const extents dense = row_major_strides(from);
    extents strides(to.size(), 0);
    for (std::size_t d = 0; d != from.size() && d != to.size(); ++d) {
        if (from[from.size() - 1 - d] != 1) strides[to.size() - 1 - d] = dense[from.size() - 1 - d];
    }
    return strides;
}

/// Calls `f(offsets)` for each index of `shape` in row-major order; offsets[k] is the position of the index
/// by strides[k].
template <std::size_t N, class F>
void for_each_index(const extents& shape, const std::array<extents, N>& strides, F f) {
    if (elements_in(shape) == 0) return;
    std::array<std::int64_t, N> at{};
    if (shape.empty()) return f(at);
    const std::size_t last = shape.size() - 1;
    extents counter(shape.size(), 0);
    while (true) {
        std::array<std::int64_t, N> inner = at;
        for (std::int64_t i = 0; i != shape[last]; ++i) {
            f(inner);
            for (std::size_t k = 0; k != N; ++k) inner[k] += strides[k][last];
        }
        std::size_t d = last;
        do {
            if (d == 0) return;
            --d;
            for (std::size_t k = 0; k != N; ++k) at[k] += strides[k][d];
            if (++counter[d] != shape[d]) break;
            for (std::size_t k = 0; k != N; ++k) at[k] -= strides[k][d] * shape[d];
            counter[d] = 0;
        } while (true);
    }
}

/// Returns the stride of every `step`th element of an axis that has `count` of them: a step that is never
/// taken may be too large.
[[nodiscard]] constexpr std::int64_t stepped(std::int64_t stride, std::int64_t step, std::int64_t count) {
    return count < 2 ? 0 : stride * step;
}

/// Calls `f(U{})` with an unsigned integer of an element's width, for kernels that only move elements.
template <class F>
void visit_width(dtype t, F f) {
    switch (element_bytes(t)) {
        case 1:
            return f(std::uint8_t{});
        case 2:
            return f(std::uint16_t{});
        case 4:
            return f(std::uint32_t{});
        case 8:
            return f(std::uint64_t{});
        default:
            return;
    }
}

/// to[index] = from[offset + index * strides], for each index of `to`.
inline void copy_strided(tensor& to, const tensor& from, const extents& strides, std::int64_t offset = 0) {
    visit_width(to.type(), [&]<class U>(U) {
        const U* source = from.data<U>().data();
        U* target = to.mutable_data<U>().data();
        for_each_index<1>(to.shape(), {strides}, [&](const auto& at) { *target++ = source[offset + at[0]]; });
    });
}

/// to[offset + index * strides] = from[index], for each index of `from`.
inline void store_strided(tensor& to, const tensor& from, const extents& strides, std::int64_t offset = 0) {
    visit_width(to.type(), [&]<class U>(U) {
        const U* source = from.data<U>().data();
        U* target = to.mutable_data<U>().data();
        for_each_index<1>(
            from.shape(), {strides}, [&](const auto& at) { target[offset + at[0]] = *source++; });
    });
}

[[nodiscard]] inline tensor broadcast_to(const tensor& t, const extents& shape) {
    if (t.shape() == shape) return t;
    tensor wide(t.type(), shape);
    copy_strided(wide, t, broadcast_strides(t.shape(), shape));
    return wide;
}

/// Returns a writable copy.
[[nodiscard]] inline tensor duplicate(const tensor& t) {
    tensor copy(t.type(), t.shape());
    std::ranges::copy(t.bytes(), copy.mutable_bytes().begin());
    return copy;
}

[[nodiscard]] inline tensor permuted(const tensor& t, std::span<const std::size_t> order) {
    const extents dense = row_major_strides(t.shape());
    extents shape;
    extents strides;
    for (const std::size_t d : order) {
        shape.push_back(t.dim(d));
        strides.push_back(dense[d]);
    }
    tensor moved(t.type(), shape);
    copy_strided(moved, t, strides);
    return moved;
}

/// A shape around one axis: element (o, i, k) is at (o * size + i) * inner + k.
struct axis_view {
    std::int64_t outer = 1;
    std::int64_t size = 1;
    std::int64_t inner = 1;

    axis_view(std::span<const std::int64_t> shape, std::int64_t axis) {
        const std::size_t a = wrap_axis(axis, shape.size());
        for (std::size_t d = 0; d != shape.size(); ++d) (d < a ? outer : d == a ? size : inner) *= shape[d];
    }
    [[nodiscard]] std::size_t at(std::int64_t o, std::int64_t i, std::int64_t k) const {
        return idx((o * size + i) * inner + k);
    }
    /// Calls `f(o, k)` for each line along the axis.
    template <class F>
    void for_each_line(F f) const {
        for (std::int64_t o = 0; o != outer; ++o) {
            for (std::int64_t k = 0; k != inner; ++k) f(o, k);
        }
    }
};

/// Axis d of the result is axis `order[d]` of self.
inline void permute_into(evaluation& e, value self, std::span<const std::size_t> order) {
    e.set_output(permuted(e.input(self), order));
}

}  // namespace headrace::eval

#endif
