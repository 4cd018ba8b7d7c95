// SPDX-License-Identifier: MIT
// Defines headrace::on_device::avg_pool2d and headrace::on_device::max_pool2d, TOSA's pooling in any layout.
#ifndef HEADRACE_ON_DEVICE_PORTABLE_POOLING_HPP
#define HEADRACE_ON_DEVICE_PORTABLE_POOLING_HPP

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <headrace/on_device/convolution.hpp>
#include <headrace/on_device/core.hpp>
#include <headrace/on_device/functions.hpp>
#include <headrace/on_device/number.hpp>
#include <headrace/on_device/scale.hpp>
#include <headrace/on_device/tensor.hpp>

namespace headrace::on_device {

/// TOSA 1.0, 2.2.1 (AVG_POOL2D) and 2.2.6 (MAX_POOL2D). Input and output are images (batch, height, width,
/// channels) of one type, int8, int16 or a floating one. What lies outside of the image neither counts nor is
/// compared. The zero points are those of an average; `nan` is the mode of a maximum of floats.
struct pooling {
    tensor input, output;
    extent kernel{}, stride{};
    border pad{};
    std::int32_t input_zero = 0, output_zero = 0;
    nan_mode nan = nan_mode::propagate;
};

/// `Finish::of` takes each result and gives what is stored. `run(input, output)`.
template <pooling P, class Finish = as_it_is>
struct avg_pool2d {};
template <pooling P, class Finish = as_it_is>
struct max_pool2d {};

namespace detail {

/// TOSA 1.0, 1.10.2: the scale by which a sum of `count` elements becomes their average.
struct reciprocal {
    std::int32_t multiplier, shift;
};
constexpr reciprocal reciprocal_of(std::int32_t count) {
    const int k = 32 - std::countl_zero(static_cast<std::uint32_t>(count - 1));
    const std::uint64_t numerator = ((std::uint64_t{1} << 30) + 1) << k;
    return {static_cast<std::int32_t>(numerator / static_cast<std::uint32_t>(count)), 30 + k};
}

/// The part of a window that lies inside of the image, from its first element on.
struct pool_window {
    std::int32_t rows, columns, first;
};

/// Calls `take(window, first result)` for each window: results of its channels follow at the output's stride.
template <pooling P, class Take>
constexpr void for_each_window(Take take) {
    for (std::int32_t n = 0; n != P.output.size[0]; ++n)
        for (std::int32_t oy = 0; oy != P.output.size[1]; ++oy) {
            const std::int32_t y = oy * P.stride.height - P.pad.top, top = y < 0 ? 0 : y;
            const std::int32_t end = y + P.kernel.height,
                               below = end < P.input.size[1] ? end : P.input.size[1];
            for (std::int32_t ox = 0; ox != P.output.size[2]; ++ox) {
                const std::int32_t x = ox * P.stride.width - P.pad.left, left = x < 0 ? 0 : x;
                const std::int32_t edge = x + P.kernel.width,
                                   right = edge < P.input.size[2] ? edge : P.input.size[2];
                take(pool_window{below - top, right - left, P.input.at(n, top, left, 0)},
                    P.output.at(n, oy, ox, 0));
            }
        }
}

/// True if windows are whole rows of the image that follow each other: a window is one run of elements.
template <pooling P>
inline constexpr bool has_whole_rows = P.kernel.width == P.input.size[2] && P.output.size[2] == 1 &&
    P.pad.left == 0 && P.input.stride[1] == P.input.size[2] * P.input.stride[2];

template <element E>
using pool_sum = std::conditional_t<is_floating(E), float, std::int32_t>;

/// Adds n elements at a distance of `step`.
struct portable_sums {
    template <class T, class Sum>
    HEADRACE_SHARED static constexpr Sum add(Sum sum, const T* x, std::int32_t n, std::int32_t step) {
#pragma GCC unroll 4
        for (std::int32_t i = 0; i != n; ++i) sum += x[i * step];
        return sum;
    }
};

template <pooling P, class Finish, class Sums>
struct averages {
    static constexpr std::int32_t scratch = 0;
    using type = element_t<P.input.type>;
    using sum = pool_sum<P.input.type>;

    static constexpr void run(const type* x, type* y) {
        // Windows inside of the image have one number of elements, so its reciprocal is kept.
        std::int32_t count = P.kernel.height * P.kernel.width;
        reciprocal scale = reciprocal_of(count);
        for_each_window<P>([&](pool_window w, std::int32_t to) {
            if (w.rows * w.columns != count) count = w.rows * w.columns, scale = reciprocal_of(count);
            const std::int32_t rows = has_whole_rows<P> ? 1 : w.rows;
            const std::int32_t columns = has_whole_rows<P> ? count : w.columns;
            std::int32_t from = w.first;
            for (std::int32_t c = 0; c != P.output.size[3];
                 ++c, from += P.input.stride[3], to += P.output.stride[3]) {
                sum s = 0;
                for (std::int32_t i = 0; i != rows; ++i)
                    s = Sums::add(s, x + (from + i * P.input.stride[1]), columns, P.input.stride[2]);
                store<P.output.type>(y + to, Finish::of(result(s, count, scale)));
            }
        });
    }

    HEADRACE_INLINE static constexpr auto result(sum s, std::int32_t count, reciprocal scale) {
        if constexpr (is_floating(P.input.type)) {
            return s / static_cast<float>(count);
        } else {
            const channel q{0, scale.multiplier, P.output_zero, scale.shift};
            const std::int64_t v = scaled<scaling::wide>(s - count * P.input_zero, q);
            return value_of<P.output.type>{saturated<type>(v)};
        }
    }
};

template <pooling P, class Finish>
struct maxima {
    static constexpr std::int32_t scratch = 0;
    using type = element_t<P.input.type>;

    static constexpr void run(const type* x, type* y) {
        for_each_window<P>([&](pool_window w, std::int32_t to) {
            std::int32_t from = w.first;
            for (std::int32_t c = 0; c != P.output.size[3];
                 ++c, from += P.input.stride[3], to += P.output.stride[3])
                store<P.output.type>(y + to, Finish::of(largest(x + from, w)));
        });
    }

    static constexpr value_of<P.input.type> largest(const type* row, pool_window w) {
        using scalar = scalar_of<P.input.type>;
        constexpr bool is_float = is_floating(P.input.type);
        scalar best =
            is_float ? -std::numeric_limits<scalar>::infinity() : std::numeric_limits<scalar>::min();
        for (std::int32_t i = 0; i != w.rows; ++i) {
            for (std::int32_t j = 0; j != w.columns; ++j) {
                const scalar v = row[i * P.input.stride[1] + j * P.input.stride[2]];
                if constexpr (is_float)
                    best = maximum<P.nan>(best, v);
                else
                    best = v > best ? v : best;
            }
        }
        return {best};
    }
};
}  // namespace detail

template <pooling P, class Finish>
struct kernel<avg_pool2d<P, Finish>, portable> : detail::averages<P, Finish, detail::portable_sums> {};

template <pooling P, class Finish>
struct kernel<max_pool2d<P, Finish>, portable> : detail::maxima<P, Finish> {};

}  // namespace headrace::on_device

#endif
