// SPDX-License-Identifier: MIT
// Defines headrace::on_device::convolution, a description of TOSA's CONV2D and DEPTHWISE_CONV2D with the RESCALE and
// CLAMP behind it, headrace::on_device::conv2d and its portable kernel.
#ifndef HEADRACE_ON_DEVICE_CONVOLUTION_HPP
#define HEADRACE_ON_DEVICE_CONVOLUTION_HPP

#include <cstdint>

#include <headrace/on_device/core.hpp>
#include <headrace/on_device/packing.hpp>
#include <headrace/on_device/scale.hpp>
#include <headrace/on_device/tensor.hpp>

namespace headrace::on_device {

struct extent {
    std::int32_t height = 1, width = 1;
    friend constexpr bool operator==(const extent&, const extent&) = default;
};

struct border {
    std::int32_t top = 0, bottom = 0, left = 0, right = 0;
    friend constexpr bool operator==(const border&, const border&) = default;
};

/// TOSA 1.0, 2.2.3 (CONV2D) and 2.2.5 (DEPTHWISE_CONV2D) with all that follows it until the next tensor in memory.
/// Input and output are images (batch, height, width, channels) in any layout. `input_zero` is the value outside of
/// the image; what a zero point adds to the sums is in the biases, so kernels multiply stored values.
struct convolution {
    tensor input, output;
    bool is_depthwise = false;
    extent kernel{}, stride{}, dilation{};
    border pad{};
    packing weights = packing::rows;
    std::int32_t input_zero = 0;
    scaling scale = scaling::none;
    std::int32_t minimum = -128, maximum = 127;  ///< of the output, if it is scaled
    bool is_in_place = false;                    ///< output and input share their memory

    constexpr std::int32_t in_channels() const { return input.size[3]; }
    constexpr std::int32_t out_channels() const { return output.size[3]; }
    /// Products in one sum.
    constexpr std::int32_t depth() const {
        return kernel.height * kernel.width * (is_depthwise ? 1 : in_channels());
    }
    constexpr std::int64_t macs() const { return std::int64_t{output.elements()} * depth(); }
    constexpr bool is_pointwise() const {
        return !is_depthwise && kernel == extent{} && stride == extent{} && pad == border{};
    }
};

/// The operator as a type: equal descriptions share their code. `Finish::of` takes each value of the result, with
/// the values of further operands at its index, and gives what is stored: a residual sum, for example.
template <convolution S, class Finish = as_it_is>
struct conv2d {};

}  // namespace headrace::on_device

#endif
