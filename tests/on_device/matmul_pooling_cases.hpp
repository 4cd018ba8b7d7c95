// SPDX-License-Identifier: MIT
// Defines matrix products and pooling of all layouts, and how each is compared with loops written from TOSA's
// text.
#ifndef HEADRACE_TESTS_ON_DEVICE_MATMUL_POOLING_CASES_HPP
#define HEADRACE_TESTS_ON_DEVICE_MATMUL_POOLING_CASES_HPP

#include <headrace/on_device/matmul.hpp>
#include <headrace/on_device/pooling.hpp>

#include "conv2d_cases.hpp"

namespace cases {

template <class T>
void fill(T* x, std::int32_t n, random& r) {
    for (std::int32_t i = 0; i != n; ++i)
        if constexpr (std::is_floating_point_v<T>)
            x[i] = static_cast<T>(r.byte()) / 16;
        else
            x[i] = static_cast<T>(sizeof(T) == 2 ? r.byte() * 255 + r.byte() / 2 : r.byte());
}

/// A float may differ by a few units in the last place of the largest partial sum.
constexpr bool is_close(float a, double b) {
    const double difference = a > b ? a - b : b - a;
    return difference <= 1e-3;
}

/// Counts the elements of a random product that differ from TOSA 2.2.7 with a RESCALE after it.
template <matrix_product M, std::int32_t shift, class Core>
std::int32_t product_differences(std::uint32_t seed) {
    using in = element_t<M.a.type>;
    using out = element_t<M.output.type>;
    constexpr bool is_float = std::is_floating_point_v<in>;
    static in a[static_cast<std::size_t>(M.a.span)], b[static_cast<std::size_t>(M.b.span)];
    static out y[static_cast<std::size_t>(M.output.span)];
    using K = kernel<matmul<M>, Core>;
    alignas(16) static std::int8_t scratch[static_cast<std::size_t>(K::scratch + 16)];
    random r{seed};
    fill(a, M.a.span, r), fill(b, M.b.span, r);
    for (auto& v : scratch) v = 99;
    constexpr std::int32_t multiplier = 0x5a5a5a5a, zero = -7;
    using scale_type = detail::product_scale<M>;
    scale_type q{};
    if constexpr (M.scale != scaling::none) {
        if constexpr (std::is_same_v<scale_type, channel>)
            q = make_channel(0, multiplier, shift, zero, M.scale);
        else
            q = make_wide_channel(0, multiplier >> 16, shift, zero);
    }
    K::run(a, b, &q, y, scratch);
    std::int32_t wrong = 0;
    for (std::int32_t i = 0; i != 16; ++i) wrong += scratch[K::scratch + i] != 99;
    for (std::int32_t n = 0; n != M.output.size[0]; ++n)
        for (std::int32_t i = 0; i != M.output.size[1]; ++i)
            for (std::int32_t j = 0; j != M.output.size[2]; ++j) {
                std::conditional_t<is_float, double, std::int64_t> sum = 0;
                for (std::int32_t k = 0; k != M.depth(); ++k)
                    if constexpr (is_float)
                        sum +=
                            static_cast<double>(a[M.a.at(n, i, k)]) * static_cast<double>(b[M.b.at(n, k, j)]);
                    else
                        sum += static_cast<std::int64_t>(a[M.a.at(n, i, k)] - M.a_zero) *
                            (b[M.b.at(n, k, j)] - M.b_zero);
                const out got = y[M.output.at(n, i, j)];
                if constexpr (is_float) {
                    wrong += !is_close(got, sum);
                } else if constexpr (M.scale == scaling::none) {
                    wrong += got != sum;
                } else {
                    const std::int64_t m = M.a.type == element::int16 ? multiplier >> 16 : multiplier;
                    std::int64_t v = ((sum * m + power(shift - 1)) >> shift) + zero;
                    v = v < M.minimum ? M.minimum : v > M.maximum ? M.maximum : v;
                    wrong += got != v;
                }
            }
    return wrong;
}

/// TOSA 2.2.1 and 2.2.6.
template <pooling P, bool is_average, class Core>
std::int32_t pooling_differences(std::uint32_t seed) {
    using type = element_t<P.input.type>;
    constexpr bool is_float = std::is_floating_point_v<type>;
    static type x[static_cast<std::size_t>(P.input.span)], y[static_cast<std::size_t>(P.output.span)];
    random r{seed};
    fill(x, P.input.span, r);
    using op = std::conditional_t<is_average, avg_pool2d<P>, max_pool2d<P>>;
    kernel<op, Core>::run(x, y);
    std::int32_t wrong = 0;
    for (std::int32_t n = 0; n != P.output.size[0]; ++n)
        for (std::int32_t oy = 0; oy != P.output.size[1]; ++oy)
            for (std::int32_t ox = 0; ox != P.output.size[2]; ++ox)
                for (std::int32_t c = 0; c != P.output.size[3]; ++c) {
                    std::conditional_t<is_float, double, std::int64_t> sum = 0, best = 0;
                    std::int32_t count = 0;
                    for (std::int32_t ky = 0; ky != P.kernel.height; ++ky)
                        for (std::int32_t kx = 0; kx != P.kernel.width; ++kx) {
                            const std::int32_t iy = oy * P.stride.height - P.pad.top + ky;
                            const std::int32_t ix = ox * P.stride.width - P.pad.left + kx;
                            if (iy < 0 || iy >= P.input.size[1] || ix < 0 || ix >= P.input.size[2]) continue;
                            const auto v = x[P.input.at(n, iy, ix, c)];
                            sum += v - static_cast<type>(P.input_zero);
                            if (count++ == 0 || v > best) best = v;
                        }
                    const type got = y[P.output.at(n, oy, ox, c)];
                    if constexpr (!is_average) {
                        wrong += static_cast<decltype(best)>(got) != best;
                    } else if constexpr (is_float) {
                        wrong += !is_close(got, sum / count);
                    } else {
                        int k = 0;
                        while ((1 << k) < count) ++k;
                        const std::int64_t multiplier = ((power(30) + 1) << k) / count;
                        const std::int64_t v =
                            ((sum * multiplier + power(29 + k)) >> (30 + k)) + P.output_zero;
                        const std::int64_t limit = sizeof(type) == 1 ? 128 : 32768;
                        wrong += got != (v < -limit ? -limit : v > limit - 1 ? limit - 1 : v);
                    }
                }
    return wrong;
}

constexpr tensor transposed(tensor t) {
    const auto swap = [](std::int32_t& a, std::int32_t& b) {
        const std::int32_t c = a;
        a = b, b = c;
    };
    swap(t.size[1], t.size[2]), swap(t.stride[1], t.stride[2]);
    return t;
}

template <class Core>
inline constexpr scaling high = std::is_same_v<Core, mve> ? scaling::doubled : scaling::high_word;

/// Calls `take(name, differences)` for each case.
template <class Core, class Take>
void for_each_product_and_pool(Take take) {
#define HEADRACE_PRODUCT(shift, ...) \
    take(#__VA_ARGS__, product_differences<matrix_product{__VA_ARGS__}, shift, Core>)
#define HEADRACE_POOL(is_average, ...) \
    take(#__VA_ARGS__, pooling_differences<pooling{__VA_ARGS__}, is_average, Core>)
    using e = element;
    HEADRACE_PRODUCT(40, .a = dense(e::int8, 1, 7, 32), .b = dense(e::int8, 1, 32, 5),
        .output = dense(e::int8, 1, 7, 5), .a_zero = 3, .b_zero = -9, .scale = high<Core>);
    HEADRACE_PRODUCT(40, .a = dense(e::int8, 2, 3, 19), .b = transposed(dense(e::int8, 2, 8, 19)),
        .output = dense(e::int8, 2, 3, 8), .a_zero = -128, .b_zero = 127, .scale = high<Core>, .minimum = -20,
        .maximum = 90);
    HEADRACE_PRODUCT(20, .a = transposed(dense(e::int8, 2, 19, 3)), .b = dense(e::int8, 2, 19, 1),
        .output = dense(e::int16, 2, 3, 1), .scale = scaling::wide, .minimum = -32768, .maximum = 32767);
    HEADRACE_PRODUCT(0, .a = dense(e::int8, 1, 4, 5), .b = dense(e::int8, 1, 5, 6),
        .output = dense(e::int32, 1, 4, 6), .a_zero = 1, .b_zero = 2);
    HEADRACE_PRODUCT(
        0, .a = dense(e::int16, 2, 4, 5), .b = dense(e::int16, 2, 5, 6), .output = dense(e::int48, 2, 4, 6));
    HEADRACE_PRODUCT(30, .a = dense(e::int16, 2, 4, 5), .b = dense(e::int16, 2, 5, 6),
        .output = dense(e::int16, 2, 4, 6), .scale = scaling::wide, .minimum = -32768, .maximum = 32767);
    HEADRACE_PRODUCT(0, .a = dense(e::float32, 2, 4, 9), .b = dense(e::float32, 2, 9, 6),
        .output = dense(e::float32, 2, 4, 6));
    HEADRACE_POOL(true, .input = image_planes(25, 5, 7), .output = image(1, 1, 1, 7), .kernel = {25, 5},
        .input_zero = -128, .output_zero = -128);
    HEADRACE_POOL(true, .input = image(1, 8, 8, 6), .output = image(1, 1, 1, 6), .kernel = {8, 8},
        .input_zero = 4, .output_zero = 5);
    HEADRACE_POOL(true, .input = image(2, 7, 9, 3), .output = image(2, 4, 5, 3), .kernel = {3, 3},
        .stride = {2, 2}, .pad = {1, 1, 1, 1}, .input_zero = 4, .output_zero = -5);
    HEADRACE_POOL(true, .input = image_planes(7, 30, 3), .output = image_planes(5, 11, 3), .kernel = {3, 20},
        .input_zero = 4, .output_zero = 100);
    HEADRACE_POOL(true, .input = image(1, 6, 6, 2, e::int16), .output = image(1, 3, 3, 2, e::int16),
        .kernel = {2, 2}, .stride = {2, 2});
    HEADRACE_POOL(true, .input = image(1, 6, 6, 2, e::float32), .output = image(1, 6, 6, 2, e::float32),
        .kernel = {3, 3}, .pad = {1, 1, 1, 1});
    HEADRACE_POOL(false, .input = image(1, 7, 9, 3), .output = image(1, 4, 5, 3), .kernel = {3, 3},
        .stride = {2, 2}, .pad = {1, 1, 1, 1});
    HEADRACE_POOL(false, .input = image_planes(7, 9, 3), .output = image(1, 3, 4, 3), .kernel = {2, 2},
        .stride = {2, 2});
    HEADRACE_POOL(false, .input = image(1, 6, 6, 2, e::int16), .output = image(1, 3, 3, 2, e::int16),
        .kernel = {2, 2}, .stride = {2, 2});
    HEADRACE_POOL(false, .input = image(1, 6, 6, 2, e::float32), .output = image(1, 3, 3, 2, e::float32),
        .kernel = {2, 2}, .stride = {2, 2});
#undef HEADRACE_PRODUCT
#undef HEADRACE_POOL
}
}  // namespace cases

#endif
