// SPDX-License-Identifier: MIT
// Defines headrace::on_device::detail::portable_planes, which convolves a plane in C++.
#ifndef HEADRACE_ON_DEVICE_PORTABLE_PLANES_HPP
#define HEADRACE_ON_DEVICE_PORTABLE_PLANES_HPP

#include <cstdint>
#include <cstring>

#include <headrace/on_device/copy.hpp>
#include <headrace/on_device/planes.hpp>

namespace headrace::on_device::detail {

template <scaling how, class Result, class PerChannel, plane_key key>
struct portable_planes {
    using element = std::int8_t;
    using result = Result;
    using per_channel = PerChannel;

    static void copy(const plane_plan& p, const std::int8_t* from, std::int8_t* to) {
        copy_plane<key>(p, from, to, [](const std::int8_t* a, std::int8_t* b, std::int32_t n) {
            if constexpr (key.width != 0)
                std::memcpy(b, a, key.width);
            else
                copy_bytes(b, a, n);
        });
    }

    static Result value(std::int32_t sum, const PerChannel& q) {
        if constexpr (how == scaling::none)
            return sum;
        else
            return saturated<Result>(scaled<how>(sum, q));
    }

    static const plane_plan* prepare(const plane_plan& p) { return &p; }
    static void convolve(const plane_plan* p, const std::int8_t* plane, const std::int8_t* w,
        const PerChannel& q, Result* out) {
        if constexpr (key.pitch != 0)
            convolve_3x3(*p, plane, w, q, out);
        else
            convolve_any(*p, plane, w, q, out);
    }

    /// Column by column, because most images are higher than their rows are long in the layers that cost
    /// most. Results are bytes, which might be the taps as far as the compiler knows: they are copied to
    /// registers.
    static void convolve_3x3(const plane_plan& p, const std::int8_t* plane, const std::int8_t* w,
        const PerChannel& q, Result* out) {
        constexpr std::int32_t pitch = key.pitch;
        const PerChannel scale = q;
        const std::int32_t w0 = w[0], w1 = w[1], w2 = w[2], w3 = w[3], w4 = w[4], w5 = w[5], w6 = w[6],
                           w7 = w[7], w8 = w[8];
        const std::int32_t bias = bias_of(scale), step = key.stride.height * pitch;
        const Result* const end = out + p.out_width * key.out_pixel;
        const std::int32_t all_rows = p.out_height * key.out_row;
        for (; out != end; out += key.out_pixel, plane += key.stride.width) {
            const std::int8_t* a = plane;
            Result* to = out;
            for (const Result* const last = out + all_rows; to != last; a += step, to += key.out_row) {
                const std::int8_t *b = a + pitch, *c = b + pitch;
                const std::int32_t sum = a[0] * w0 + a[1] * w1 + a[2] * w2 + b[0] * w3 + b[1] * w4 +
                    b[2] * w5 + c[0] * w6 + c[1] * w7 + c[2] * w8;
                *to = value(wrapping_add(sum, bias), scale);
            }
        }
    }

    static void convolve_any(const plane_plan& p, const std::int8_t* plane, const std::int8_t* w,
        const PerChannel& q, Result* out) {
        const PerChannel scale = q;
        const std::int32_t rows = p.kernel_height, columns = p.kernel_width, step = p.dilation_width;
        const std::int32_t pitch = p.dilation_height * p.pitch;
        for (std::int32_t y = 0; y != p.out_height;
             ++y, plane += p.stride_height * p.pitch, out += p.out_row) {
            const std::int8_t* from = plane;
            Result* to = out;
            for (std::int32_t x = 0; x != p.out_width; ++x, from += p.stride_width, to += p.out_pixel) {
                std::int32_t sum = bias_of(scale);
                const std::int8_t *row = from, *tap = w;
                for (std::int32_t i = rows; i != 0; --i, row += pitch)
                    if constexpr (key.kernel_width != 0)
#pragma GCC unroll 8
                        for (std::int32_t j = 0; j != key.kernel_width; ++j)
                            sum = multiply_add(sum, row[j], *tap++);
                    else
                        for (std::int32_t j = 0; j != columns; ++j)
                            sum = multiply_add(sum, row[j * step], *tap++);
                *to = value(sum, scale);
            }
        }
    }
};

}  // namespace headrace::on_device::detail

#endif
