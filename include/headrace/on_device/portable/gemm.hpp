// SPDX-License-Identifier: MIT
// Defines headrace::on_device::detail::portable_patches, which multiplies two pixels by four channels at a
// time in C++.
#ifndef HEADRACE_ON_DEVICE_PORTABLE_GEMM_HPP
#define HEADRACE_ON_DEVICE_PORTABLE_GEMM_HPP

#include <cstdint>
#include <cstring>
#include <type_traits>

#include <headrace/on_device/copy.hpp>
#include <headrace/on_device/patches.hpp>
#include <headrace/on_device/scale.hpp>

#if defined(__ARM_ARCH_ISA_THUMB) && __ARM_ARCH_ISA_THUMB == 2 && __ARM_ARCH_PROFILE == 'M' && \
    defined(__ARM_FEATURE_SAT)
#define HEADRACE_HAS_THUMB2
#include <headrace/on_device/portable/gemm_thumb2.hpp>
#endif

namespace headrace::on_device::detail {

/// Stores the results of one channel for two pixels.
template <scaling how, class Result, class PerChannel>
HEADRACE_INLINE void store_pair(
    std::int32_t a, std::int32_t b, const PerChannel& q, Result* to_a, Result* to_b) {
    a = wrapping_add(a, bias_of(q)), b = wrapping_add(b, bias_of(q));
    if constexpr (how == scaling::none)
        *to_a = a, *to_b = b;
    else
        *to_a = saturated<Result>(scaled<how>(a, q)), *to_b = saturated<Result>(scaled<how>(b, q));
}

/// Products of two pixels x[chunk][2][4] and all channels. Eight sums, two values of x, one weight and the
/// pointers are what 14 registers hold. The sums are signed, because compilers reorder unsigned ones until
/// registers do not suffice; up to a depth of 2^17 they do not overflow without their biases.
template <scaling how, class Result, class PerChannel>
HEADRACE_SHARED void gemm_2x4(const std::int8_t* x, std::int32_t chunks, const std::int8_t* w,
    const PerChannel* q, std::int32_t channels, Result* out0, Result* out1, std::int32_t stride) {
    const std::int8_t* const end = x + chunks * 8;
    for (std::int32_t left = channels; left > 0; left -= 4, q += 4, out0 += 4 * stride, out1 += 4 * stride) {
        std::int32_t a[4]{}, b[4]{};
        const std::int8_t* v = x;
        do {
#pragma GCC unroll 4
            for (int k = 0; k != 4; ++k) {
                const std::int32_t x0 = v[k], x1 = v[k + 4];
#pragma GCC unroll 4
                for (int c = 0; c != 4; ++c) {
                    const std::int32_t weight = w[k * 4 + c];
                    a[c] += x0 * weight, b[c] += x1 * weight;
                }
            }
            v += 8, w += 16;
        } while (v != end);
#pragma GCC unroll 4
        for (int c = 0; c != 4; ++c) {
            if (c != 0 && c >= left) break;
            store_pair<how>(a[c], b[c], q[c], out0 + c * stride, out1 + c * stride);
        }
    }
}

/// Copies `rows` runs of words, `step` bytes apart, to every other word; returns the place after the last.
HEADRACE_SHARED inline std::int8_t* put_rows_of_words(
    const std::int8_t* from, std::int8_t* to, std::int32_t rows, std::int32_t words, std::int32_t step) {
    for (; rows != 0; --rows, from += step) {
        const std::int8_t* word = from;
        std::int32_t left = words;
        for (; left >= 4; left -= 4, word += 16, to += 32)
            for (int i = 0; i != 4; ++i) std::memcpy(to + i * 8, word + i * 4, 4);
        for (; left != 0; --left, word += 4, to += 8) std::memcpy(to, word, 4);
    }
    return to;
}

/// Patches of portable code: [k / 4][pixel][k % 4].
template <scaling how, class Result, class PerChannel>
struct portable_patches {
    using result = Result;
    using per_channel = PerChannel;
    static constexpr std::int32_t most_pixels = 2, group = 2, chunk = 4, bytes_of_chunk = 8;
    static constexpr bool reads_no_more = true;  ///< than the window, for short rows

    /// True if so many pixels are multiplied.
    static constexpr bool is_multiplied(std::int32_t pixels) { return pixels % group == 0; }
    /// From the place of a pixel to the next one's.
    static std::int32_t step(std::int32_t, std::int32_t) { return 4; }
    static std::int8_t* put_rows(
        const std::int8_t* from, std::int8_t* to, std::int32_t rows, std::int32_t chunks, std::int32_t step) {
        return put_rows_of_words(from, to, rows, chunks, step);
    }
    static void copy_rows(
        const std::int8_t* from, std::int8_t* to, std::int32_t rows, std::int32_t n, std::int32_t step) {
        for (; rows != 0; --rows, from += step) to = copy_bytes(to, from, n);
    }
    static void put_planes(const patch_plan& p, const std::int8_t* from, std::int8_t* patch, std::int32_t) {
        const std::int32_t plane = p.in_channel;
        for (std::int32_t chunks = p.chunks; chunks != 0; --chunks, patch += 8)
            for (int k = 0; k != 4; ++k, from += plane) patch[k] = from[0], patch[k + 4] = from[1];
    }
    static constexpr bool takes_short_rows(std::int32_t n, std::int32_t) { return n == chunk; }
    static void put_short_rows(
        const std::int8_t* from, std::int32_t chunks, std::int8_t* to, std::int32_t, std::int32_t step) {
        for (; chunks != 0; --chunks, from += step, to += bytes_of_chunk) std::memcpy(to, from, 4);
    }
    static void multiply(const patch_plan& p, const std::int8_t* patch, const std::int8_t* w,
        const PerChannel* q, Result* const* out, std::int32_t) {
#if defined(HEADRACE_HAS_THUMB2)
        if constexpr (how == scaling::high_word && std::is_same_v<Result, std::int8_t>)
            return gemm_2x4_thumb2(patch, p.chunks, w, q, p.out_channels, out[0], out[1], p.out_channel);
        else
#endif
            gemm_2x4<how>(patch, p.chunks, w, q, p.out_channels, out[0], out[1], p.out_channel);
    }
};

}  // namespace headrace::on_device::detail

#endif
