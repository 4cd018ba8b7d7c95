// SPDX-License-Identifier: MIT
// Defines headrace::on_device::tensor, which says what a tensor's elements are and where in memory they lie.
#ifndef HEADRACE_ON_DEVICE_TENSOR_HPP
#define HEADRACE_ON_DEVICE_TENSOR_HPP

#include <bit>
#include <cstdint>
#include <type_traits>

#include <headrace/on_device/small_float.hpp>

namespace headrace::on_device {

/// The types of elements. A boolean is a byte, 0 or 1; an int48 takes 64 bits.
enum class element : std::uint8_t {
    boolean,
    int8,
    uint8,
    int16,
    uint16,
    int32,
    int48,
    float32,
    float16,
    bfloat16
};

namespace detail {
template <element E>
struct element_type;
template <>
struct element_type<element::boolean> {
    using type = bool;
};
template <>
struct element_type<element::int8> {
    using type = std::int8_t;
};
template <>
struct element_type<element::uint8> {
    using type = std::uint8_t;
};
template <>
struct element_type<element::int16> {
    using type = std::int16_t;
};
template <>
struct element_type<element::uint16> {
    using type = std::uint16_t;
};
template <>
struct element_type<element::int32> {
    using type = std::int32_t;
};
template <>
struct element_type<element::int48> {
    using type = std::int64_t;
};
template <>
struct element_type<element::float32> {
    using type = float;
};
template <>
struct element_type<element::float16> {
    using type = half_float;
};
template <>
struct element_type<element::bfloat16> {
    using type = brain_float;
};
}  // namespace detail

template <element E>
using element_t = typename detail::element_type<E>::type;

/// Floats are computed with as float32, whatever they are in memory.
constexpr bool is_floating(element e) { return e >= element::float32; }
/// The type of the arithmetic on an element: float, or its own type.
template <element E>
using scalar_of = std::conditional_t<is_floating(E), float, element_t<E>>;

constexpr std::int32_t bytes_of(element e) {
    switch (e) {
        case element::int16:
        case element::uint16:
        case element::float16:
        case element::bfloat16:
            return 2;
        case element::int32:
        case element::float32:
            return 4;
        case element::int48:
            return 8;
        default:
            return 1;
    }
}

/// A float from its bits, as text loses what a NaN holds.
constexpr float float_of_bits(std::uint32_t bits) { return std::bit_cast<float>(bits); }

inline constexpr int max_rank = 6;  ///< of TOSA's level 8K

/// A tensor's type, sizes and layout: the element at index i is at `offset + sum(i[d] * stride[d])`,
/// counted in elements from the start of `span` elements of memory. Strides may be 0 (a broadcast) or
/// negative (a reversal). What lies between the elements is a margin, if it is filled: it holds `margin`,
/// which a convolution reads as what lies outside the image. It is structural: the argument of templates.
struct tensor {
    element type = element::int8;
    int rank = 0;
    std::int32_t size[max_rank]{}, stride[max_rank]{};
    std::int32_t offset = 0, span = 1;
    bool has_margin = false;
    std::int32_t margin = 0;

    friend constexpr bool operator==(const tensor&, const tensor&) = default;

    constexpr std::int32_t elements() const {
        std::int32_t n = 1;
        for (int d = 0; d != rank; ++d) n *= size[d];
        return n;
    }
    constexpr std::int32_t bytes() const { return span * bytes_of(type); }

    /// Returns an element's position, of indices for the last axes; the others are 0.
    template <class... Indices>
    constexpr std::int32_t at(Indices... indices) const {
        std::int32_t place = offset;
        int d = rank - static_cast<int>(sizeof...(Indices));
        ((place += static_cast<std::int32_t>(indices) * stride[d++]), ...);
        return place;
    }

    /// True if elements follow each other in the order of their indices, without a gap.
    constexpr bool is_dense() const {
        std::int32_t step = 1;
        for (int d = rank; d-- != 0;) {
            if (size[d] != 1 && stride[d] != step) return false;
            step *= size[d];
        }
        return true;
    }
};

/// The tensor with these sizes whose last axis is the innermost, without gaps or margins.
constexpr tensor row_major(const tensor& sizes) {
    tensor t{.type = sizes.type, .rank = sizes.rank};
    for (int d = t.rank; d-- != 0;) {
        t.size[d] = sizes.size[d];
        t.stride[d] = t.span;
        t.span *= t.size[d];
    }
    return t;
}
template <class... Sizes>
constexpr tensor dense(element type, Sizes... sizes) {
    tensor t{.type = type, .rank = static_cast<int>(sizeof...(Sizes))};
    int n = 0;
    ((t.size[n++] = static_cast<std::int32_t>(sizes)), ...);
    return row_major(t);
}

/// An image (batch, height, width, channels) whose channels are planes, one after the other. Each plane has
/// `gap` elements of margin before it, as the last one has after it, and each row `row_gap` after it: with
/// a row of margin, a window may leave the image above and below without a test. `lead` elements of margin
/// come first of all, and `tail` last, so that wide loads may reach over the ends.
constexpr tensor planes(element type, std::int32_t height, std::int32_t width, std::int32_t channels,
    std::int32_t margin, std::int32_t gap, std::int32_t row_gap = 0, std::int32_t lead = 0,
    std::int32_t tail = 0) {
    const std::int32_t row = width + row_gap, plane = height * row + gap;
    return {.type = type,
        .rank = 4,
        .size = {1, height, width, channels},
        .stride = {0, row, 1, plane},
        .offset = lead + gap,
        .span = lead + channels * plane + gap + tail,
        .has_margin = lead + tail + gap + row_gap != 0,
        .margin = margin};
}

}  // namespace headrace::on_device

#endif
