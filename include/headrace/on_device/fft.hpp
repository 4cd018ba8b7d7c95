// SPDX-License-Identifier: MIT
// Defines headrace::on_device::fft2d and headrace::on_device::rfft2d, TOSA's Fourier transforms.
#ifndef HEADRACE_ON_DEVICE_FFT_HPP
#define HEADRACE_ON_DEVICE_FFT_HPP

#include <bit>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <headrace/on_device/core.hpp>
#include <headrace/on_device/float_math.hpp>
#include <headrace/on_device/tensor.hpp>

namespace headrace::on_device {

/// TOSA 1.0, 2.2.6 (FFT2D): real and imaginary parts (batch, height, width), sizes of which are powers of
/// two, in any layout. The results may be the operands' memory, if the layouts are the same. It is not
/// scaled, also if inverse. `run(real, imaginary, result real, result imaginary)`.
template <tensor In, tensor Out, bool Inverse = false>
struct fft2d {};

/// TOSA 1.0, 2.2.9 (RFFT2D): a real operand (batch, height, width), of whose transform the results have the
/// first width / 2 + 1 columns. `run(real, result real, result imaginary, scratch)`.
template <tensor In, tensor Out>
struct rfft2d {};

namespace detail {

/// Cosine and sine of the first half of a turn, in N parts for a turn. An eighth of a turn is computed, the
/// others are its mirror images, so that the quarters are exact.
template <std::int32_t N>
struct twiddles {
    float cosine[N < 2 ? 1 : N / 2]{}, sine[N < 2 ? 1 : N / 2]{};
    constexpr twiddles() {
        for (std::int32_t k = 0; k < N / 2; ++k) {
            const std::int32_t quarter =
                4 * k < N ? k : N / 2 - k;  // its sine is the same, its cosine may be negative
            const bool is_steep = 8 * quarter > N;
            const std::int32_t eighth = is_steep ? N / 4 - quarter : quarter;
            const float angle = static_cast<float>(eighth) * (6.28318530718F / static_cast<float>(N));
            const float c = cosine_of_rest(angle), s = sine_of_rest(angle);
            cosine[k] = (4 * k < N ? 1.F : -1.F) * (is_steep ? s : c);
            sine[k] = is_steep ? c : s;
        }
    }
};
template <std::int32_t N>
inline constexpr twiddles<N> twiddles_of{};

/// Transforms n elements in place, which lie `by` apart. The turn has n * every parts of the table. A product
/// with `direction` turns the sine.
HEADRACE_SHARED constexpr void transform_line(float* re, float* im, std::int32_t n, std::int32_t by,
    const float* cosine, const float* sine, std::int32_t every, float direction) {
    // The places of the elements, their bits reversed, is where the halves of halves lie.
    for (std::int32_t i = 1, k = 0; i < n; ++i) {
        std::int32_t bit = n / 2;
        for (; (k & bit) != 0; bit /= 2) k -= bit;
        k += bit;
        if (i < k) {
            std::swap(re[i * by], re[k * by]);
            std::swap(im[i * by], im[k * by]);
        }
    }
    for (std::int32_t half = 1; half < n; half *= 2) {
        const std::int32_t step = n / (2 * half) * every;
        for (std::int32_t k = 0; k < half; ++k) {
            const float c = cosine[k * step], s = direction * sine[k * step];
            for (std::int32_t i = k; i < n; i += 2 * half) {
                const std::int32_t a = i * by, b = (i + half) * by;
                const float x = re[b] * c - im[b] * s, y = re[b] * s + im[b] * c;
                re[b] = re[a] - x;
                im[b] = im[a] - y;
                re[a] += x;
                im[a] += y;
            }
        }
    }
}
constexpr bool is_power_of_two(std::int32_t n) { return std::has_single_bit(static_cast<std::uint32_t>(n)); }

/// The table for the longer axis serves both.
template <tensor In>
struct transform {
    static_assert(is_power_of_two(In.size[1]) && is_power_of_two(In.size[2]),
        "fft2d: height and width are powers of two");
    static constexpr std::int32_t height = In.size[1], width = In.size[2],
                                  longest = height > width ? height : width;

    static constexpr void line(float* re, float* im, std::int32_t n, std::int32_t by, float direction) {
        transform_line(
            re, im, n, by, twiddles_of<longest>.cosine, twiddles_of<longest>.sine, longest / n, direction);
    }
};

}  // namespace detail

template <tensor In, tensor Out, bool Inverse>
struct kernel<fft2d<In, Out, Inverse>, portable> {
    static constexpr std::int32_t scratch = 0;
    static constexpr void run(
        const float* real, const float* imaginary, float* out_real, float* out_imaginary) {
        using t = detail::transform<In>;
        constexpr float direction = Inverse ? 1.F : -1.F;
        for (std::int32_t n = 0; n != In.size[0]; ++n) {
            for (std::int32_t y = 0; y != t::height; ++y) {
                for (std::int32_t x = 0; x != t::width; ++x) {
                    out_real[Out.at(n, y, x)] = real[In.at(n, y, x)];
                    out_imaginary[Out.at(n, y, x)] = imaginary[In.at(n, y, x)];
                }
                const std::int32_t row = Out.at(n, y, 0);
                t::line(out_real + row, out_imaginary + row, t::width, Out.stride[2], direction);
            }
            for (std::int32_t x = 0; x != t::width; ++x) {
                const std::int32_t column = Out.at(n, 0, x);
                t::line(out_real + column, out_imaginary + column, t::height, Out.stride[1], direction);
            }
        }
    }
};

template <tensor In, tensor Out>
struct kernel<rfft2d<In, Out>, portable> {
    /// A row of the transform.
    static constexpr std::int32_t scratch = 2 * static_cast<std::int32_t>(sizeof(float)) * In.size[2];
    static constexpr void run(const float* real, float* out_real, float* out_imaginary, std::int8_t* memory) {
        if (std::is_constant_evaluated()) {
            float row[2 * In.size[2]]{};
            run_in(real, out_real, out_imaginary, row);
        } else {
            run_in(real, out_real, out_imaginary, reinterpret_cast<float*>(memory));
        }
    }

private:
    static constexpr void run_in(const float* real, float* out_real, float* out_imaginary, float* row) {
        using t = detail::transform<In>;
        float* const imaginary = row + t::width;
        for (std::int32_t n = 0; n != In.size[0]; ++n) {
            for (std::int32_t y = 0; y != t::height; ++y) {
                for (std::int32_t x = 0; x != t::width; ++x) {
                    row[x] = real[In.at(n, y, x)];
                    imaginary[x] = 0;
                }
                t::line(row, imaginary, t::width, 1, -1);
                for (std::int32_t x = 0; x != Out.size[2]; ++x) {
                    out_real[Out.at(n, y, x)] = row[x];
                    out_imaginary[Out.at(n, y, x)] = imaginary[x];
                }
            }
            for (std::int32_t x = 0; x != Out.size[2]; ++x) {
                const std::int32_t column = Out.at(n, 0, x);
                t::line(out_real + column, out_imaginary + column, t::height, Out.stride[1], -1);
            }
        }
    }
};

}  // namespace headrace::on_device

#endif
