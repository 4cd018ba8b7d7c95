// SPDX-License-Identifier: MIT
// Defines headrace::on_device::resize, TOSA's RESIZE of images.
#ifndef HEADRACE_ON_DEVICE_RESIZE_HPP
#define HEADRACE_ON_DEVICE_RESIZE_HPP

#include <cstdint>
#include <type_traits>

#include <headrace/on_device/core.hpp>
#include <headrace/on_device/number.hpp>
#include <headrace/on_device/scale.hpp>
#include <headrace/on_device/tensor.hpp>

namespace headrace::on_device {

enum class resize_mode : std::uint8_t { nearest, bilinear };

/// An axis: the result at i is at (i * denominator + offset) / numerator of the input.
struct resize_axis {
    std::int32_t numerator = 1, denominator = 1, offset = 0;
};

/// TOSA 1.0, 2.11.1 (RESIZE). Input and output are images (batch, height, width, channels) in any layout.
/// Sizes are those of the output, so the border is not needed. Bilinear results of integers are not divided:
/// int8 gives int32, int16 gives int48, numerator * numerator times the input.
struct resizing {
    tensor input, output;
    resize_axis y{}, x{};
    resize_mode mode = resize_mode::nearest;
};

/// `Finish::of` takes each value, a number or float, and gives what is stored: the RESCALE that divides, for
/// example.
template <resizing R, class Finish = as_it_is>
struct resize {};

namespace detail {

/// A result's position along an axis: between two elements, `rest` of numerator parts after the first.
struct resize_place {
    std::int32_t first = 0, second = 0, rest = 0;
};
constexpr resize_place place_along(std::int32_t at, resize_axis a, std::int32_t size) {
    const std::int32_t place = at * a.denominator + a.offset;
    std::int32_t whole = place / a.numerator, rest = place % a.numerator;
    if (rest < 0) {
        --whole;
        rest += a.numerator;
    }
    const auto inside = [=](std::int32_t i) { return i < 0 ? 0 : i >= size ? size - 1 : i; };
    return {inside(whole), inside(whole + 1), rest};
}

}  // namespace detail

template <resizing R, class Finish>
struct kernel<resize<R, Finish>, portable> {
    static constexpr std::int32_t scratch = 0;
    using in_type = element_t<R.input.type>;
    using out_type = element_t<R.output.type>;

    static constexpr void run(const in_type* in, out_type* out) {
        for (std::int32_t n = 0; n != R.output.size[0]; ++n) {
            for (std::int32_t y = 0; y != R.output.size[1]; ++y) {
                const detail::resize_place py = detail::place_along(y, R.y, R.input.size[1]);
                for (std::int32_t x = 0; x != R.output.size[2]; ++x)
                    run_pixel(in, py, detail::place_along(x, R.x, R.input.size[2]), n,
                        out + R.output.at(n, y, x, 0));
            }
        }
    }

private:
    static constexpr void run_pixel(
        const in_type* in, detail::resize_place y, detail::resize_place x, std::int32_t n, out_type* out) {
        constexpr std::int32_t step = R.input.stride[3], out_step = R.output.stride[3];
        if constexpr (R.mode == resize_mode::nearest) {
            const std::int32_t row = 2 * y.rest >= R.y.numerator ? y.second : y.first;
            const std::int32_t column = 2 * x.rest >= R.x.numerator ? x.second : x.first;
            const in_type* const from = in + R.input.at(n, row, column, 0);
            for (std::int32_t c = 0; c != R.output.size[3]; ++c)
                store<R.output.type>(out + c * out_step, Finish::of(load<R.input.type>(from + c * step)));
        } else {
            const in_type* const corners[4]{in + R.input.at(n, y.first, x.first, 0),
                in + R.input.at(n, y.first, x.second, 0), in + R.input.at(n, y.second, x.first, 0),
                in + R.input.at(n, y.second, x.second, 0)};
            for (std::int32_t c = 0; c != R.output.size[3]; ++c) {
                const auto between = interpolated(corners[0][c * step], corners[1][c * step],
                    corners[2][c * step], corners[3][c * step], y.rest, x.rest);
                store<R.output.type>(out + c * out_step, Finish::of(between));
            }
        }
    }

    static constexpr auto interpolated(
        in_type a, in_type b, in_type c, in_type d, std::int32_t down, std::int32_t right) {
        if constexpr (is_floating(R.input.type)) {
            const float v = static_cast<float>(down) / static_cast<float>(R.y.numerator);
            const float u = static_cast<float>(right) / static_cast<float>(R.x.numerator);
            // A corner of weight 0 has no part in the result, not even if it is NaN.
            const auto mix = [](float p, float q, float by) { return by == 0 ? p : p * (1 - by) + q * by; };
            return mix(mix(a, b, u), mix(c, d, u), v);
        } else {
            using sum = std::conditional_t<R.input.type == element::int8, std::int32_t, std::int64_t>;
            const std::int32_t up = R.y.numerator - down, left = R.x.numerator - right;
            const sum above = sum{a * left + b * right}, below = sum{c * left + d * right};
            constexpr std::int64_t parts = std::int64_t{R.y.numerator} * R.x.numerator;
            constexpr std::int64_t lo = parts * lowest_of(R.input.type),
                                   hi = parts * highest_of(R.input.type);
            return number<lo, hi, sum>{above * up + below * down};
        }
    }
};

}  // namespace headrace::on_device

#endif
