// SPDX-License-Identifier: MIT
// Defines headrace::on_device::detail::convolve_patches, which gathers the windows of a block of pixels and
// multiplies them by all channels.
#ifndef HEADRACE_ON_DEVICE_PATCHES_HPP
#define HEADRACE_ON_DEVICE_PATCHES_HPP

#include <cstdint>
#include <cstring>

#include <headrace/on_device/convolution.hpp>
#include <headrace/on_device/core.hpp>
#include <headrace/on_device/packing.hpp>
#include <headrace/on_device/scale.hpp>

namespace headrace::on_device::detail {

/// A convolution as numbers at run time, so that all layers share the code. Strides count elements.
struct patch_plan {
    std::int32_t batches, out_height, out_width, out_channels;
    std::int32_t in_height, in_width, in_channels;
    std::int32_t kernel_height, kernel_width, stride_height, stride_width, dilation_height, dilation_width;
    std::int32_t top, left;
    std::int32_t in_offset, in_batch, in_row, in_pixel, in_channel;
    std::int32_t out_offset, out_batch, out_row, out_pixel, out_channel;
    std::int32_t input_zero;
    std::int32_t inside_rows, inside_columns;  ///< windows that start there lie inside of the image
    std::int32_t run;  ///< bytes of the window that follow each other in memory: a row of it, a tap, or one
    std::int32_t row_step;    ///< from one row of the window to the next
    std::int32_t row_chunks;  ///< of a row, if that is whole chunks; otherwise 0
    std::int32_t chunks;      ///< of a patch
    std::int32_t pixels;      ///< of a block
    bool has_planes;          ///< pointwise, and pixels follow each other in planes
    bool has_runs;            ///< of whole rows of a window
    bool has_whole_taps;      ///< whose channels follow each other and are whole chunks
    bool has_short_rows;      ///< of a window, in memory that may be read after the image
};

constexpr std::int32_t patch_chunks(const convolution& s, std::int32_t chunk) {
    return round_up(s.depth(), chunk) / chunk;
}

/// Pixels of a block: the more, the rarer scales are loaded, but the larger is the patch, which has up to
/// 1152 bytes. Shallow windows are those of a network's first layer, which may have a copy of the image on
/// the stack as well: 512 bytes.
constexpr std::int32_t patch_pixels(
    const convolution& s, std::int32_t chunk, std::int32_t most, std::int32_t group) {
    const std::int32_t depth = patch_chunks(s, chunk) * chunk;
    const std::int32_t fitting = (depth < 64 ? 512 : 1152) / depth / group * group;
    return fitting < group ? group : fitting < most ? fitting : most;
}

/// True if pixels are at one distance over all rows.
constexpr bool is_flat(const tensor& t) { return t.size[1] == 1 || t.stride[1] == t.size[2] * t.stride[2]; }

constexpr patch_plan plan_of(
    const convolution& s, std::int32_t chunk, std::int32_t most, std::int32_t group, bool has_short_rows) {
    const tensor &x = s.input, &y = s.output;
    const bool has_taps = x.stride[3] == 1 || x.size[3] == 1;
    const bool has_rows =
        has_taps && s.dilation.width == 1 && (x.stride[2] == x.size[3] || s.kernel.width == 1);
    const bool is_one_row = s.is_pointwise() && is_flat(x) && is_flat(y);
    const std::int32_t rows = is_one_row ? 1 : y.size[1], in_rows = is_one_row ? 1 : x.size[1];
    return {y.size[0], rows, y.size[1] * y.size[2] / rows, y.size[3], in_rows,
        x.size[1] * x.size[2] / in_rows, x.size[3], s.kernel.height, s.kernel.width, s.stride.height,
        s.stride.width, s.dilation.height, s.dilation.width, s.pad.top, s.pad.left, x.offset, x.stride[0],
        x.stride[1], x.stride[2], x.stride[3], y.offset, y.stride[0], y.stride[1], y.stride[2], y.stride[3],
        s.input_zero, in_rows - (s.kernel.height - 1) * s.dilation.height,
        x.size[1] * x.size[2] / in_rows - (s.kernel.width - 1) * s.dilation.width,
        has_rows       ? s.kernel.width * x.size[3]
            : has_taps ? x.size[3]
                       : 1,
        s.dilation.height * x.stride[1],
        has_rows && !has_short_rows && s.kernel.width * x.size[3] % chunk == 0
            ? s.kernel.width * x.size[3] / chunk
            : 0,
        patch_chunks(s, chunk), patch_pixels(s, chunk, most, group),
        s.is_pointwise() && x.stride[2] == 1 && x.size[3] % (chunk < 16 ? chunk : 8) == 0 &&
            (chunk < 16 || (x.stride[3] >= 0 && x.stride[3] <= 9362)),
        has_rows, has_taps && x.size[3] % chunk == 0, has_short_rows};
}
/// `is_copy` says that the image is one by `copy_image`.
template <class Patches>
constexpr patch_plan plan_of(const convolution& s, bool is_copy = false) {
    const bool has_short_rows = (is_copy || Patches::reads_no_more) && s.dilation == extent{} &&
        s.input.stride[3] == 1 && s.input.stride[2] == s.input.size[3] &&
        Patches::takes_short_rows(s.kernel.width * s.input.size[3], s.input.stride[1]);
    return plan_of(s, Patches::chunk, Patches::most_pixels, Patches::group, has_short_rows);
}

/// Bytes of a patch for each byte of a window.
template <class Patches>
inline constexpr std::int32_t patch_width = Patches::bytes_of_chunk / Patches::chunk / Patches::group;

/// The taps of a window's rows outside of the image, before and after those inside.
struct taps_of_row {
    std::int32_t before, inside, behind;
};
HEADRACE_INLINE taps_of_row taps_at(const patch_plan& p, std::int32_t column) {
    const std::int32_t width = p.in_width, step = p.dilation_width;
    std::int32_t left = p.kernel_width;
    for (; left != 0 && column < 0; --left) column += step;
    const std::int32_t before = p.kernel_width - left;
    for (; left != 0 && column < width; --left) column += step;
    return {before, p.kernel_width - before - left, left};
}

/// Calls `fill(taps)` and `copy(from, taps)` for the window at (row, column) of the image at x, in the order
/// of the weights: taps outside of the image are filled, and those inside are `step` bytes apart.
template <class Fill, class Copy>
HEADRACE_INLINE void for_each_part(const patch_plan& p, const std::int8_t* x, std::int32_t row,
    std::int32_t column, std::int32_t step, Fill fill, Copy copy) {
    const taps_of_row taps = taps_at(p, column);
    const std::int8_t* from = x + row * p.in_row + column * p.in_pixel + taps.before * step;
    for (std::int32_t ky = p.kernel_height; ky != 0; --ky, row += p.dilation_height) {
        const bool is_inside = static_cast<std::uint32_t>(row) < static_cast<std::uint32_t>(p.in_height);
        const std::int32_t inside = is_inside ? taps.inside : 0;
        const std::int32_t before = inside == 0 ? p.kernel_width : taps.before;
        if (before != 0) fill(before);
        if (inside != 0) copy(from, inside);
        if (inside != 0 && taps.behind != 0) fill(taps.behind);
        from += p.row_step;
    }
}

/// Writes the window at (row, column) of the input, whose batch starts at x, in the order of the weights.
template <class Patches>
HEADRACE_SHARED void gather_window(
    const patch_plan& p, const std::int8_t* x, std::int32_t row, std::int32_t column, std::int8_t* to) {
    const std::int32_t channels = p.in_channels, step = p.dilation_width * p.in_pixel;
    const auto fill = [&](std::int32_t taps) {
        std::memset(to, p.input_zero, static_cast<std::size_t>(taps * channels));
        to += taps * channels;
    };
    const auto copy = [&](const std::int8_t* from, std::int32_t taps) {
        if (p.run != 1) {
            if (p.has_runs)
                Patches::copy_rows(from, to, 1, taps * channels, 0);
            else
                Patches::copy_rows(from, to, taps, channels, step);
            to += taps * channels;
            return;
        }
        for (; taps != 0; --taps, from += step) {
            const std::int8_t* element = from;
            for (std::int32_t i = channels; i != 0; --i, element += p.in_channel) *to++ = *element;
        }
    };
    for_each_part(p, x, row, column, step, fill, copy);
}

/// Writes the patch of a window of which taps lie outside of the image: those are read from `zeros`.
template <class Patches>
HEADRACE_INLINE void gather_taps(const patch_plan& p, const std::int8_t* x, std::int32_t row,
    std::int32_t column, const std::int8_t* zeros, std::int8_t* to) {
    const std::int32_t chunks = p.in_channels / Patches::chunk, step = p.dilation_width * p.in_pixel;
    const auto fill = [&](std::int32_t taps) { to = Patches::put_rows(zeros, to, taps, chunks, 0); };
    const auto copy = [&](const std::int8_t* from, std::int32_t taps) {
        to = Patches::put_rows(from, to, taps, chunks, step);
    };
    for_each_part(p, x, row, column, step, fill, copy);
}

/// Writes the patch of a window inside of the image from its first element on, whose rows are runs in memory
/// and not whole chunks.
template <class Patches>
HEADRACE_SHARED void gather_rows(
    const patch_plan& p, const std::int8_t* from, std::int8_t* window, std::int8_t* to) {
    if (p.has_short_rows) return Patches::put_short_rows(from, p.chunks, to, p.run, p.row_step);
    if constexpr (requires { Patches::most_of_row; })
        if (p.run <= Patches::most_of_row)
            return Patches::put_window(from, window, to, p.kernel_height, p.run, p.row_step, p.chunks);
    Patches::copy_rows(from, window, p.kernel_height, p.run, p.row_step);
    Patches::put_rows(window, to, 1, p.chunks, 0);
}

/// Writes the patch of any window, which starts at (row, column). `window` has room for all its chunks.
template <class Patches>
HEADRACE_SHARED void gather_patch(const patch_plan& p, const std::int8_t* x, std::int32_t row,
    std::int32_t column, std::int8_t* window, std::int8_t* to) {
    if (p.has_whole_taps) return gather_taps<Patches>(p, x, row, column, window, to);
    gather_window<Patches>(p, x, row, column, window);
    Patches::put_rows(window, to, 1, p.chunks, 0);
}

/// The convolution by blocks of pixels; a last block is filled up by its last pixel where that is needed. A
/// block's windows are read before its results are written, so a pointwise one may write over its input.
/// `scratch` has room for the patches of a block and a window.
template <class Patches>
HEADRACE_SHARED void convolve_patches(const patch_plan& p, const std::int8_t* x, const std::int8_t* w,
    const typename Patches::per_channel* q, typename Patches::result* y, std::int8_t* scratch) {
    const std::int32_t pixels = p.pixels, chunks = p.chunks;
    std::int8_t* const patch = scratch;
    std::int8_t* const window = scratch + p.chunks * Patches::chunk * pixels * patch_width<Patches>;
    typename Patches::result* out[Patches::most_pixels];
    std::int32_t j = 0;
    // The weights after the depth are 0, and so is what they are multiplied by. Where taps are whole, no
    // window is gathered, and its memory is a tap outside of the image.
    if (p.has_whole_taps)
        std::memset(window, p.input_zero, static_cast<std::size_t>(p.in_channels));
    else
        std::memset(window + (p.chunks - 1) * Patches::chunk, 0, Patches::chunk);
    x += p.in_offset, y += p.out_offset;
    for (std::int32_t n = 0; n != p.batches; ++n, x += p.in_batch, y += p.out_batch) {
        auto* out_row = y;
        std::int32_t row = -p.top;
        std::int8_t* place = patch;
        for (std::int32_t oy = 0; oy != p.out_height; ++oy, row += p.stride_height, out_row += p.out_row) {
            auto* to = out_row;
            std::int32_t column = -p.left, left = p.out_width;
            if (p.has_planes && j == 0) {
                const std::int8_t* from = x + row * p.in_row + column;
                for (std::int32_t block = pixels; left >= Patches::group; left -= block, from += block) {
                    if (left < block) block = left / Patches::group * Patches::group;
                    Patches::put_planes(p, from, patch, block);
                    for (std::int32_t i = 0; i != block; ++i, to += p.out_pixel) out[i] = to;
                    Patches::multiply(p, patch, w, q, out, block);
                }
                column += p.out_width - left;
            }
            // The plan is read before the loop: the compiler cannot know that stored bytes are not
            // part of it.
            const std::int32_t stride = p.stride_width, in_pixel = p.in_pixel, out_pixel = p.out_pixel;
            const bool has_runs = p.has_runs &&
                static_cast<std::uint32_t>(row) <
                    static_cast<std::uint32_t>(p.inside_rows < 0 ? 0 : p.inside_rows);
            const auto columns =
                static_cast<std::uint32_t>(has_runs && p.inside_columns > 0 ? p.inside_columns : 0);
            const std::int8_t* const from = x + row * p.in_row;
            for (; left != 0; --left, column += stride, to += out_pixel) {
                out[j] = to;
                if (static_cast<std::uint32_t>(column) < columns) {
                    const std::int8_t* const first = from + column * in_pixel;
                    if (p.row_chunks != 0)
                        Patches::put_rows(first, place, p.kernel_height, p.row_chunks, p.row_step);
                    else
                        gather_rows<Patches>(p, first, window, place);
                } else {
                    gather_patch<Patches>(p, x, row, column, window, place);
                }
                place += Patches::step(chunks, j);
                if (++j != pixels) continue;
                Patches::multiply(p, patch, w, q, out, pixels);
                j = 0, place = patch;
            }
        }
        if (j == 0) continue;
        row -= p.stride_height;
        const std::int32_t column = (p.out_width - 1) * p.stride_width - p.left;
        for (; !Patches::is_multiplied(j); ++j) {
            out[j] = out[j - 1];
            gather_patch<Patches>(p, x, row, column, window, place);
            place += Patches::step(chunks, j);
        }
        Patches::multiply(p, patch, w, q, out, j);
        j = 0;
    }
}

}  // namespace headrace::on_device::detail

#endif
