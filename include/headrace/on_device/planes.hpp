// SPDX-License-Identifier: MIT
// Defines headrace::on_device::detail::convolve_planes, which convolves channel by channel: each plane is
// copied, with what lies outside of the image, before its results are written.
#ifndef HEADRACE_ON_DEVICE_PLANES_HPP
#define HEADRACE_ON_DEVICE_PLANES_HPP

#include <cstdint>
#include <cstring>

#include <headrace/on_device/convolution.hpp>
#include <headrace/on_device/copy.hpp>
#include <headrace/on_device/core.hpp>
#include <headrace/on_device/scale.hpp>

namespace headrace::on_device::detail {

/// A depthwise convolution as numbers at run time. Strides count elements.
struct plane_plan {
    std::int32_t batches, channels, multiplier, out_height, out_width, in_width;
    std::int32_t kernel_height, kernel_width, stride_height, stride_width, dilation_height, dilation_width;
    std::int32_t in_offset, in_batch, in_row, in_pixel, in_channel;
    std::int32_t out_offset, out_batch, out_row, out_pixel, out_channel;
    std::int32_t input_zero;
    std::int32_t rows;      ///< of the image that are read
    std::int32_t pitch;     ///< elements of a row of the copy
    std::int32_t start;     ///< of the image in the copy
    std::int32_t elements;  ///< of the copy
};

/// The margin to the right of a row is the one to the left of the next row: a row of the copy is as much
/// longer than the image's as the wider of both. `multiple` divides its length.
constexpr plane_plan planes_of(const convolution& s, std::int32_t multiple = 1) {
    const tensor &x = s.input, &y = s.output;
    const std::int32_t height =
        (y.size[1] - 1) * s.stride.height + (s.kernel.height - 1) * s.dilation.height + 1;
    const std::int32_t width = (y.size[2] - 1) * s.stride.width + (s.kernel.width - 1) * s.dilation.width + 1;
    const std::int32_t right = width - s.pad.left - x.size[2];
    const std::int32_t margin = right > s.pad.left ? right : s.pad.left;
    const std::int32_t pitch = round_up(x.size[2] + margin, multiple);
    const std::int32_t below = height - s.pad.top;
    const std::int32_t rows = below < 0 ? 0 : below < x.size[1] ? below : x.size[1];
    const std::int32_t used = (height - 1) * pitch + width,
                       held = s.pad.top * pitch + s.pad.left + rows * pitch;
    return {y.size[0], x.size[3], s.multiplier(), y.size[1], y.size[2], x.size[2], s.kernel.height,
        s.kernel.width, s.stride.height, s.stride.width, s.dilation.height, s.dilation.width, x.offset,
        x.stride[0], x.stride[1], x.stride[2], x.stride[3], y.offset, y.stride[0], y.stride[1], y.stride[2],
        y.stride[3], s.input_zero, rows, pitch, s.pad.top * pitch + s.pad.left, used > held ? used : held};
}

/// Helium's three ways: a window in a load of 16 bytes, four windows of 3 x 3 in strips, and four whose
/// results follow each other.
constexpr bool is_narrow(const plane_plan& p) {
    return (p.kernel_height - 1) * p.pitch + p.kernel_width <= 16 && p.out_height >= 4 &&
        (p.stride_width == 1 || p.stride_width == 2);
}
constexpr bool is_wide(const plane_plan& p) {
    return p.kernel_height == 3 && p.kernel_width == 3 && p.out_pixel == 1 &&
        (p.stride_width == 1 || p.stride_width == 2);
}

/// The plan with a copy by strips in place of rows: each starts at a second row, and has four of each column.
/// One strip before those that are read, and one after them, receive the rows that are written to two strips.
constexpr plane_plan in_strips(plane_plan p, std::int32_t top, std::int32_t left) {
    const std::int32_t strips = p.stride_height == 2 ? p.out_height : (p.out_height + 1) / 2;
    const std::int32_t inside = left + p.in_width, used = (p.out_width - 1) * p.stride_width + 3;
    // A load has four columns, and a block reads windows after the last one.
    const std::int32_t read = round_up(p.out_width, p.stride_width * 2) * p.stride_width + 3;
    p.pitch = 4 * (inside > used ? inside : used);
    p.start = (1 + top / 2) * p.pitch + top % 2 + left * 4;
    const std::int32_t held = (strips + 2) * p.pitch, end = strips * p.pitch + 4 * read;
    p.elements = held > end ? held : end;
    return p;
}
/// Strips take twice the memory of rows: not more than this.
inline constexpr std::int32_t most_of_strips = 8192;
constexpr bool has_strips(const convolution& s) {
    const plane_plan p = planes_of(s);
    return s.kernel == extent{3, 3} && s.dilation == extent{} && p.in_pixel == 1 &&
        (s.stride == extent{} || s.stride == extent{2, 2}) && !is_narrow(p) && p.rows > 0 &&
        in_strips(p, s.pad.top, s.pad.left).elements <= most_of_strips;
}

/// The constants of the unrolled code for windows of 3 x 3, which reads all else from the plan. A pitch of 0
/// means windows of any kind.
struct plane_key {
    std::int32_t width = 0;  ///< of rows that follow each other in memory and are short; else 0
    std::int32_t pitch = 0;
    extent stride{};
    std::int32_t out_row = 0, out_pixel = 0;
    std::int32_t kernel_width = 0;  ///< of windows up to 8 x 8, whose rows are unrolled
};
constexpr plane_key key_of(const convolution& s, std::int32_t multiple) {
    const plane_plan p = planes_of(s, multiple);
    const bool is_small = p.kernel_height <= 8 && p.kernel_width <= 8 && s.dilation == extent{};
    if (s.kernel != extent{3, 3} || s.dilation != extent{} || p.out_row == 0 || p.out_pixel == 0)
        return {.kernel_width = is_small ? p.kernel_width : 0};
    return {
        p.in_pixel == 1 && p.in_width <= 16 ? p.in_width : 0, p.pitch, s.stride, p.out_row, p.out_pixel, 3};
}

/// Copies a plane of short rows, unrolled, by `copy(from, to, n)`, or of rows of any length.
template <plane_key key, class Element, class Copy>
HEADRACE_INLINE void copy_plane(const plane_plan& p, const std::int8_t* from, Element* to, Copy copy) {
    // Bytes that are stored might be the plan as far as the compiler knows: it is read before.
    const std::int32_t width = p.in_width, pixel = p.in_pixel, row = p.in_row, pitch = p.pitch;
    for (std::int32_t y = p.rows; y != 0; --y, from += row, to += pitch) {
        if constexpr (key.width != 0) {
            copy(from, to, key.width);
        } else if (pixel == 1) {
            copy(from, to, width);
        } else {
            const std::int8_t* element = from;
            for (std::int32_t x = 0; x != width; ++x, element += pixel) to[x] = *element;
        }
    }
}

/// `Planes` has `element`, the type of the copy's elements; `copy`, which copies a plane's image; `convolve`,
/// which makes a plane of results of the copy; and `prepare`, which makes of the plan what `convolve` takes.
/// `scratch` has the plan's elements.
template <class Planes>
HEADRACE_SHARED void convolve_planes(const plane_plan& p, const std::int8_t* x, const std::int8_t* w,
    const typename Planes::per_channel* q, typename Planes::result* y, std::int8_t* scratch) {
    auto* const copy = reinterpret_cast<typename Planes::element*>(scratch);
    const std::int32_t elements = p.elements;
    const auto zero = static_cast<typename Planes::element>(p.input_zero);
    for (std::int32_t i = 0; i != elements; ++i) copy[i] = zero;
    const auto prepared = Planes::prepare(p);
    x += p.in_offset, y += p.out_offset;
    for (std::int32_t n = 0; n != p.batches; ++n, x += p.in_batch, y += p.out_batch) {
        const std::int8_t* weights = w;
        const auto* scale = q;
        const std::int8_t* from = x;
        auto* to = y;
        for (std::int32_t c = 0; c != p.channels; ++c, from += p.in_channel) {
            Planes::copy(p, from, copy + p.start);
            for (std::int32_t m = 0; m != p.multiplier; ++m, ++scale, to += p.out_channel) {
                Planes::convolve(prepared, copy, weights, *scale, to);
                weights += p.kernel_height * p.kernel_width;
            }
        }
    }
}

}  // namespace headrace::on_device::detail

#endif
