// SPDX-License-Identifier: MIT
// Defines headrace::on_device::detail::dsp_planes, which convolves a plane of int16 by the DSP extension's
// SMLAD.
#ifndef HEADRACE_ON_DEVICE_DSP_PLANES_HPP
#define HEADRACE_ON_DEVICE_DSP_PLANES_HPP

#include <arm_acle.h>

#include <cstdint>

#include <headrace/on_device/choice.hpp>
#include <headrace/on_device/dsp/gemm.hpp>
#include <headrace/on_device/dsp/row_pairs.hpp>
#include <headrace/on_device/planes.hpp>

namespace headrace::on_device::detail {

HEADRACE_INLINE std::int8_t scaled_byte(std::int32_t sum, const channel& q) {
    std::int32_t v;
    asm("smmla %0, %1, %2, %3" : "=r"(v) : "r"(sum), "r"(q.multiplier), "r"(q.addend));
    v >>= q.shift;
    asm("ssat %0, #8, %0" : "+r"(v));
    return static_cast<std::int8_t>(v);
}
HEADRACE_INLINE std::int32_t pair(std::int32_t low, std::int32_t high) {
    return static_cast<std::int32_t>(
        (static_cast<std::uint32_t>(low) & 0xffff) | static_cast<std::uint32_t>(high) << 16);
}

/// Rows of second windows share code, which reads all from the plan, but for the width of short rows that are
/// copied. Other windows of 3 x 3 are faster by code that is made for their distances.
constexpr bool has_row_pairs(const plane_plan& p, const convolution& s) {
    return s.kernel == extent{3, 3} && s.dilation == extent{} && p.stride_width == 2 && p.out_width > 4;
}
constexpr plane_key dsp_key(const convolution& s) {
    plane_key key = key_of(s, pitch_multiple(core_id::dsp));
    if (has_row_pairs(planes_of(s), s)) key = {.width = key.width, .stride = {0, 2}};
    return key;
}

template <plane_key key, scaling how>
struct dsp_planes {
    using element = std::int16_t;
    using result = std::int8_t;
    using per_channel = channel;
    static constexpr bool has_row_pairs = key.stride == extent{0, 2};

    static void copy(const plane_plan& p, const std::int8_t* from, std::int16_t* to) {
        copy_plane<key>(p, from, to, [](const std::int8_t* a, std::int16_t* b, std::int32_t n) {
            const auto widen = [](const std::int8_t* four, std::int16_t* out) {
                const std::int32_t v = load_word(four), even = even_bytes(v), odd = odd_bytes(v);
                store_word(out, low_halves(even, odd)), store_word(out + 2, high_halves(even, odd));
            };
            for (; n >= 16; n -= 16, a += 16, b += 16)
                widen(a, b), widen(a + 4, b + 4), widen(a + 8, b + 8), widen(a + 12, b + 12);
#pragma GCC unroll 4
            for (; n >= 4; n -= 4, a += 4, b += 4) widen(a, b);
#pragma GCC unroll 4
            for (; n != 0; --n) *b++ = *a++;
        });
    }

    /// Windows of 3 x 3, column by column, with stride 1 by pairs of columns: four elements of a row give
    /// both windows' products by four instructions, of which two take two products and two take one.
    static void convolve_3x3(const plane_plan& p, const std::int16_t* plane, const std::int8_t* w,
        const channel& q, std::int8_t* out) {
        constexpr std::int32_t pitch = key.pitch;
        const std::int32_t a01 = pair(w[0], w[1]), a12 = pair(w[1], w[2]), b01 = pair(w[3], w[4]),
                           b12 = pair(w[4], w[5]), c01 = pair(w[6], w[7]), c12 = pair(w[7], w[8]);
        const channel scale = q;
        const auto row = [](const std::int16_t* from, std::int32_t w01, std::int32_t w12, std::int32_t& s,
                             std::int32_t& t) {
            std::int32_t u, v;
            asm("ldrd %0, %1, %2" : "=r"(u), "=r"(v) : "m"(*reinterpret_cast<const std::int64_t*>(from)));
            s = __smlad(u, w01, s), s = __smlabt(v, w12, s);
            t = __smlatb(u, w01, t), t = __smlad(v, w12, t);
        };
        constexpr std::int32_t step = key.stride.height * pitch;
        const std::int32_t all_rows = p.out_height * key.out_row;
        const auto column = [=](const std::int16_t* from, std::int8_t* to) {
            for (const std::int8_t* const end = to + all_rows; to != end; from += step, to += key.out_row) {
                std::int32_t s = scale.bias;
                s = __smlad(load_word(from), a01, s), s = __smlabt(from[2], a12, s);
                s = __smlad(load_word(from + pitch), b01, s), s = __smlabt(from[pitch + 2], b12, s);
                s = __smlad(load_word(from + 2 * pitch), c01, s), s = __smlabt(from[2 * pitch + 2], c12, s);
                *to = scaled_byte(s, scale);
            }
        };
        std::int32_t left = p.out_width;
        for (; key.stride.width == 1 && left > 1; left -= 2, plane += 2, out += 2 * key.out_pixel) {
            const std::int16_t* from = plane;
            std::int8_t* to = out;
            for (const std::int8_t* const end = out + all_rows; to != end; from += step, to += key.out_row) {
                std::int32_t s = scale.bias, t = s;
                row(from, a01, a12, s, t), row(from + pitch, b01, b12, s, t),
                    row(from + 2 * pitch, c01, c12, s, t);
                to[0] = scaled_byte(s, scale), to[key.out_pixel] = scaled_byte(t, scale);
            }
        }
        if constexpr (key.stride.width == 1) {
            if (left != 0) column(plane, out);
        } else {
            for (; left != 0; --left, plane += key.stride.width, out += key.out_pixel) column(plane, out);
        }
    }

    /// Small windows, by pairs of taps in a row; a last tap has 0 beside it.
    static void convolve_small(const plane_plan& p, const std::int16_t* plane, const std::int8_t* w,
        const channel& q, std::int8_t* out) {
        constexpr std::int32_t width = key.kernel_width, pairs = (width + 1) / 2;
        const channel scale = q;
        std::int32_t taps[8 * pairs];
        for (std::int32_t i = 0; i != p.kernel_height; ++i)
            for (std::int32_t j = 0; j != pairs; ++j)
                taps[i * pairs + j] =
                    pair(w[i * width + 2 * j], 2 * j + 1 < width ? w[i * width + 2 * j + 1] : 0);
        const std::int32_t rows = p.kernel_height, pitch = p.pitch, stride = p.stride_width,
                           step = p.out_pixel;
        for (std::int32_t y = p.out_height; y != 0; --y, plane += p.stride_height * pitch, out += p.out_row) {
            const std::int16_t* from = plane;
            std::int8_t* to = out;
            for (std::int32_t x = p.out_width; x != 0; --x, from += stride, to += step) {
                std::int32_t sum = scale.bias;
                const std::int16_t* row = from;
                const std::int32_t* tap = taps;
                for (std::int32_t i = rows; i != 0; --i, row += pitch)
#pragma GCC unroll 4
                    for (std::int32_t j = 0; j != pairs; ++j)
                        sum = __smlad(load_word(row + 2 * j), *tap++, sum);
                *to = scaled_byte(sum, scale);
            }
        }
    }

    /// Any window that is not dilated, by pairs of taps in a row.
    static void convolve_any(const plane_plan& p, const std::int16_t* plane, const std::int8_t* w,
        const channel& q, std::int8_t* out) {
        const channel scale = q;
        for (std::int32_t y = 0; y != p.out_height;
             ++y, plane += p.stride_height * p.pitch, out += p.out_row) {
            const std::int16_t* from = plane;
            std::int8_t* to = out;
            for (std::int32_t x = p.out_width; x != 0; --x, from += p.stride_width, to += p.out_pixel) {
                std::int32_t sum = scale.bias;
                const std::int16_t* row = from;
                const std::int8_t* tap = w;
                for (std::int32_t i = p.kernel_height; i != 0; --i, row += p.pitch) {
                    const std::int16_t* v = row;
                    std::int32_t j = p.kernel_width;
                    for (; j > 1; j -= 2, v += 2, tap += 2)
                        sum = __smlad(load_word(v), pair(tap[0], tap[1]), sum);
                    if (j != 0) sum += *v * *tap++;
                }
                *to = scaled_byte(sum, scale);
            }
        }
    }

    static auto prepare(const plane_plan& p) {
        if constexpr (has_row_pairs)
            return row_pairs_of(p);
        else
            return &p;
    }
    static void convolve(
        const auto& plan, const std::int16_t* plane, const std::int8_t* w, channel q, std::int8_t* out) {
        if constexpr (how == scaling::doubled) q.addend /= 2, q.shift = 23 - q.shift;
        if constexpr (has_row_pairs)
            convolve_row_pairs(plane, w, &q, out, &plan);
        else if constexpr (key.pitch != 0)
            convolve_3x3(*plan, plane, w, q, out);
        else if constexpr (key.kernel_width != 0)
            convolve_small(*plan, plane, w, q, out);
        else
            convolve_any(*plan, plane, w, q, out);
    }
};

}  // namespace headrace::on_device::detail

#endif
