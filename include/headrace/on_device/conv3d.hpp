// SPDX-License-Identifier: MIT
// Defines headrace::on_device::conv3d, TOSA's CONV3D with the RESCALE and CLAMP after it.
#ifndef HEADRACE_ON_DEVICE_CONV3D_HPP
#define HEADRACE_ON_DEVICE_CONV3D_HPP

#include <cstdint>

#include <headrace/on_device/core.hpp>
#include <headrace/on_device/scale.hpp>
#include <headrace/on_device/tensor.hpp>
#include <headrace/on_device/window.hpp>

namespace headrace::on_device {

struct volume {
    std::int32_t depth = 1, height = 1, width = 1;
    friend constexpr bool operator==(const volume&, const volume&) = default;
};

/// TOSA 1.0, 2.2.4 (CONV3D). Tensors are (batch, depth, height, width, channels) in any layout; weights are
/// [output channel][depth][height][width][input channel]. Types are those of `convolution`. Kernels take the
/// zero points from each element, so biases are the operator's own: nothing is folded into them. A depthwise
/// one (2.2.5, with a depth of 1) has weights [height][width][output channel].
struct convolution3d {
    tensor input, output;
    volume kernel{}, stride{}, dilation{};
    volume pad{0, 0, 0};  ///< before the first element of each axis
    std::int32_t input_zero = 0, weight_zero = 0;
    std::int32_t minimum = -128, maximum = 127;  ///< of the scaled value
    scaling scale = scaling::none;
    bool is_depthwise = false;  ///< output channel c reads input channel c / (output / input channels)

    constexpr std::int32_t taps() const { return kernel.depth * kernel.height * kernel.width; }
    /// Products of one tap in one sum.
    constexpr std::int32_t channels() const { return is_depthwise ? 1 : input.size[4]; }
    constexpr std::int64_t macs() const { return std::int64_t{output.elements()} * taps() * channels(); }
};

/// `Finish::of` takes each value of the result, a number or float, and gives what is stored.
/// `run(input, weights, channels, output)`.
template <convolution3d S, class Finish = as_it_is>
struct conv3d {};

template <convolution3d S, class Finish>
struct kernel<conv3d<S, Finish>, portable> {
    static constexpr std::int32_t scratch = 0;
    using sums = detail::window_sums<S.input.type>;
    using weight = typename sums::weight;
    using per_channel = typename sums::template per_channel<S.scale>;

    static constexpr void run(const element_t<S.input.type>* in, const weight* weights,
        const per_channel* channels, element_t<S.output.type>* out) {
        for (std::int32_t n = 0; n != S.output.size[0]; ++n) {
            for (std::int32_t d = 0; d != S.output.size[1]; ++d) {
                for (std::int32_t y = 0; y != S.output.size[2]; ++y) {
                    for (std::int32_t x = 0; x != S.output.size[3]; ++x) {
                        for (std::int32_t c = 0; c != S.output.size[4]; ++c) {
                            const auto sum =
                                sum_at(in + n * S.input.stride[0] + first_channel(c) * S.input.stride[4],
                                    {d, y, x}, weights + c * step, detail::bias_of(channels[c]));
                            const auto v =
                                sums::template result<S.scale, S.minimum, S.maximum>(sum, channels[c]);
                            store<S.output.type>(out + S.output.at(n, d, y, x, c), Finish::of(v));
                        }
                    }
                }
            }
        }
    }

private:
    // Weights of one channel, and of one tap, are so far apart.
    static constexpr std::int32_t step = S.is_depthwise ? 1 : S.taps() * S.channels();
    static constexpr std::int32_t tap = S.is_depthwise ? S.output.size[4] : S.channels();

    static constexpr std::int32_t first_channel(std::int32_t c) {
        return S.is_depthwise ? c / (S.output.size[4] / S.input.size[4]) : 0;
    }

    static constexpr typename sums::sum sum_at(
        const element_t<S.input.type>* in, volume at, const weight* w, typename sums::sum sum) {
        for (std::int32_t i = 0; i != S.kernel.depth; ++i) {
            for (std::int32_t j = 0; j != S.kernel.height; ++j) {
                for (std::int32_t k = 0; k != S.kernel.width; ++k, w += tap) {
                    const std::int32_t d = at.depth * S.stride.depth - S.pad.depth + i * S.dilation.depth;
                    const std::int32_t y = at.height * S.stride.height - S.pad.height + j * S.dilation.height;
                    const std::int32_t x = at.width * S.stride.width - S.pad.width + k * S.dilation.width;
                    const bool is_inside = 0 <= d && d < S.input.size[1] && 0 <= y && y < S.input.size[2] &&
                        0 <= x && x < S.input.size[3];
                    if (!is_inside) continue;
                    sum = sums::add_pixel(sum, S.channels(), in + S.input.at(d, y, x, 0), S.input.stride[4],
                        S.input_zero, w, S.weight_zero);
                }
            }
        }
        return sum;
    }
};

}  // namespace headrace::on_device

#endif
