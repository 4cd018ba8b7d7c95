// SPDX-License-Identifier: MIT
// Defines headrace::on_device::transpose_conv2d, TOSA's TRANSPOSE_CONV2D with the RESCALE and CLAMP after
// it.
#ifndef HEADRACE_ON_DEVICE_TRANSPOSE_CONV_HPP
#define HEADRACE_ON_DEVICE_TRANSPOSE_CONV_HPP

#include <cstdint>

#include <headrace/on_device/convolution.hpp>
#include <headrace/on_device/core.hpp>
#include <headrace/on_device/scale.hpp>
#include <headrace/on_device/tensor.hpp>
#include <headrace/on_device/window.hpp>

namespace headrace::on_device {

/// TOSA 1.0, 2.2.10 (TRANSPOSE_CONV2D). Input and output are images (batch, height, width, channels) in any
/// layout; weights are [output channel][row][column][input channel]. Types are those of `convolution`.
/// Kernels take the input's zero point from each element, so biases are the operator's own: nothing is folded
/// into them.
struct transposed_convolution {
    tensor input, output;
    extent kernel{}, stride{};
    border out_pad{};  ///< rows and columns that the output has more than the windows, fewer if negative
    std::int32_t input_zero = 0, weight_zero = 0;
    std::int32_t minimum = -128, maximum = 127;  ///< of the scaled value
    scaling scale = scaling::none;

    constexpr std::int64_t macs() const {
        return std::int64_t{input.elements()} * kernel.height * kernel.width * output.size[3];
    }
};

/// `Finish::of` takes each value of the result, a number or float, and gives what is stored.
/// `run(input, weights, channels, output)`.
template <transposed_convolution S, class Finish = as_it_is>
struct transpose_conv2d {};

template <transposed_convolution S, class Finish>
struct kernel<transpose_conv2d<S, Finish>, portable> {
    static constexpr std::int32_t scratch = 0;
    using sums = detail::window_sums<S.input.type>;
    using weight = typename sums::weight;
    using per_channel = typename sums::template per_channel<S.scale>;

    static constexpr void run(const element_t<S.input.type>* in, const weight* weights,
        const per_channel* channels, element_t<S.output.type>* out) {
        for (std::int32_t n = 0; n != S.output.size[0]; ++n) {
            for (std::int32_t y = 0; y != S.output.size[1]; ++y) {
                for (std::int32_t x = 0; x != S.output.size[2]; ++x) {
                    for (std::int32_t c = 0; c != S.output.size[3]; ++c) {
                        const auto sum = sum_at(in + n * S.input.stride[0], y, x, weights + c * row,
                            detail::bias_of(channels[c]));
                        const auto v = sums::template result<S.scale, S.minimum, S.maximum>(sum, channels[c]);
                        store<S.output.type>(out + S.output.at(n, y, x, c), Finish::of(v));
                    }
                }
            }
        }
    }

private:
    static constexpr std::int32_t line = S.kernel.width * S.input.size[3], row = S.kernel.height * line;

    /// The first tap whose distance from a place is a multiple of the stride: only each stride-th reads an
    /// element.
    static constexpr std::int32_t first_tap(std::int32_t place, std::int32_t stride) {
        const std::int32_t rest = place % stride;
        return rest < 0 ? rest + stride : rest;
    }
    static constexpr typename sums::sum sum_at(const element_t<S.input.type>* in, std::int32_t y,
        std::int32_t x, const weight* w, typename sums::sum sum) {
        const std::int32_t down = y - S.out_pad.top, right = x - S.out_pad.left;
        for (std::int32_t i = first_tap(down, S.stride.height); i < S.kernel.height; i += S.stride.height) {
            // The distance is a multiple, so the quotient is exact; a negative one lies outside.
            const std::int32_t iy = (down - i) / S.stride.height;
            if (iy < 0 || iy >= S.input.size[1]) continue;
            for (std::int32_t k = first_tap(right, S.stride.width); k < S.kernel.width; k += S.stride.width) {
                const std::int32_t ix = (right - k) / S.stride.width;
                if (ix < 0 || ix >= S.input.size[2]) continue;
                sum = sums::add_pixel(sum, S.input.size[3], in + S.input.at(iy, ix, 0), S.input.stride[3],
                    S.input_zero, w + i * line + k * S.input.size[3], S.weight_zero);
            }
        }
        return sum;
    }
};

}  // namespace headrace::on_device

#endif
