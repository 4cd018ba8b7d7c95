// SPDX-License-Identifier: MIT
// Defines headrace::on_device::convolution, a description of TOSA's CONV2D and DEPTHWISE_CONV2D with the
// RESCALE and CLAMP after it.
#ifndef HEADRACE_ON_DEVICE_CONVOLUTION_HPP
#define HEADRACE_ON_DEVICE_CONVOLUTION_HPP

#include <cstdint>

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

/// TOSA 1.0, 2.2.3 (CONV2D) and 2.2.5 (DEPTHWISE_CONV2D) with all that follows it until the next tensor in
/// memory. Input and output are images (batch, height, width, channels) in any layout. `input_zero` is the
/// value outside of the image; what it adds to the sums is in the biases, so kernels multiply stored values.
/// A weight counts less `weight_zero`, which no fast kernel takes.
/// - int8 and weights of int8: sums of int32; a `channel` for each, or an int32 bias; int8, uint8, int16 or
/// int32
/// - int16 and weights of int8: sums of int48; a `wide_channel`, or an int64 bias; int16, int8 or int48
/// - float32, float16 or bfloat16, weights and output of the same type: sums of float32; a float bias
struct convolution {
    tensor input, output;
    bool is_depthwise = false;  ///< output channel c reads input channel c / multiplier()
    extent kernel{}, stride{}, dilation{};
    border pad{};
    packing weights = packing::rows;
    std::int32_t input_zero = 0, weight_zero = 0;
    scaling scale = scaling::none;
    std::int32_t minimum = -128, maximum = 127;  ///< of the scaled value
    bool is_in_place = false;                    ///< output and input share their memory, from its first byte
    bool is_over_extra = false;  ///< the output's memory holds the one further operand, in the same layout

    friend constexpr bool operator==(const convolution&, const convolution&) = default;

    constexpr std::int32_t in_channels() const { return input.size[3]; }
    constexpr std::int32_t out_channels() const { return output.size[3]; }
    constexpr std::int32_t multiplier() const { return out_channels() / in_channels(); }
    /// Products in one sum.
    constexpr std::int32_t depth() const {
        return kernel.height * kernel.width * (is_depthwise ? 1 : in_channels());
    }
    constexpr std::int64_t macs() const { return std::int64_t{output.elements()} * depth(); }
    constexpr bool is_pointwise() const {
        return !is_depthwise && kernel == extent{} && stride == extent{} && pad == border{};
    }
    constexpr bool is_integer() const { return !is_floating(input.type); }
};

/// The place of a weight among `packed_elements`; k is (row * kernel width + column) * input channels + input
/// channel, without the last factor if the convolution is depthwise.
constexpr std::int32_t weight_at(const convolution& s, std::int32_t channel, std::int32_t k) {
    return packed_at(s.weights, s.depth(), channel, k);
}
constexpr std::int32_t packed_elements(const convolution& s) {
    return packed_elements(s.weights, s.out_channels(), s.depth());
}
/// The length of the array of channels' constants; those after the last channel have their default values.
constexpr std::int32_t packed_channels(const convolution& s) {
    return round_up(s.out_channels(), block_of(s.weights).channels);
}

/// True if kernels may write the output over the input: both int8, in one layout; pixel by pixel for a
/// pointwise convolution that has no more output channels than input channels, and plane by plane for a
/// depthwise one.
constexpr bool can_be_in_place(const convolution& s) {
    if (s.input.type != element::int8 || s.output.type != element::int8 || s.stride != extent{}) return false;
    for (int d = 0; d != 4; ++d) {
        if (s.input.size[d] != 1 && s.input.stride[d] != s.output.stride[d]) return false;
        if (d != 3 && s.input.size[d] != s.output.size[d]) return false;
    }
    if (s.input.offset != s.output.offset) return false;
    return s.is_depthwise ? s.multiplier() == 1 : s.is_pointwise() && s.out_channels() <= s.in_channels();
}

/// True if kernels may write the output over a further operand of one byte an element: no product is stored
/// before it is finished.
constexpr bool can_be_over_extra(const convolution& s) {
    return !s.is_depthwise && !s.is_in_place && s.scale != scaling::none && bytes_of(s.output.type) == 1 &&
        s.output.is_dense();
}

}  // namespace headrace::on_device

#endif
