// SPDX-License-Identifier: MIT
// Defines the portable loops of headrace::on_device::conv2d, which compute all layouts, types and attributes.
#ifndef HEADRACE_ON_DEVICE_CONVOLUTION_LOOPS_HPP
#define HEADRACE_ON_DEVICE_CONVOLUTION_LOOPS_HPP

#include <array>
#include <cstdint>
#include <type_traits>

#include <headrace/on_device/choice.hpp>
#include <headrace/on_device/convolution.hpp>
#include <headrace/on_device/core.hpp>
#include <headrace/on_device/number.hpp>
#include <headrace/on_device/packing.hpp>
#include <headrace/on_device/scale.hpp>
#include <headrace/on_device/tensor.hpp>

namespace headrace::on_device::detail {

template <convolution S>
using weight_t = std::conditional_t<S.is_integer(), std::int8_t, element_t<S.input.type>>;
template <convolution S>
using sum_t = std::conditional_t<!S.is_integer(), float,
    std::conditional_t<S.input.type == element::int8, std::int32_t, std::int64_t>>;
template <convolution S>
using per_channel_t = std::conditional_t<S.scale == scaling::none, sum_t<S>,
    std::conditional_t<S.input.type == element::int8, channel, wide_channel>>;

template <convolution S>
HEADRACE_INLINE constexpr auto weight_less_zero(weight_t<S> w) {
    if constexpr (S.weight_zero == 0)
        return w;
    else
        return static_cast<std::int32_t>(w) - S.weight_zero;
}

/// The value that `Finish` takes: scaled and clamped, a number with these bounds or a float.
template <convolution S>
HEADRACE_INLINE constexpr auto result_of(sum_t<S> sum, const per_channel_t<S>& q) {
    if constexpr (!S.is_integer())
        return sum;
    else if constexpr (S.scale == scaling::none)
        return value_of < S.input.type == element::int8 ? element::int32 : element::int48 > {sum};
    else if constexpr (S.input.type == element::int8)
        return number<S.minimum, S.maximum>{clamped(scaled<S.scale>(sum, q), S.minimum, S.maximum)};
    else
        return number<S.minimum, S.maximum>{clamped(scaled(sum, q), S.minimum, S.maximum)};
}

/// In constant expressions, where a compiler pays for each call and each term of an index: the image with
/// what lies outside of it, and the weights by rows, are copied to arrays of the function's own, and each
/// product is a step of one loop over them. Sums of integers need no wrapping in 64 bits. As the input is
/// copied, the results may be written over it.
template <convolution S, class Finish, tensor... Extra>
constexpr void convolve_in_compiler(const element_t<S.input.type>* x, const element_t<Extra.type>*... extra,
    const weight_t<S>* w, const per_channel_t<S>* q, element_t<S.output.type>* y) {
    using total = std::conditional_t<S.is_integer(), std::int64_t, float>;
    constexpr std::int32_t height = read_extents(S).height, width = read_extents(S).width;
    constexpr std::int32_t channels = S.in_channels(), depth = S.depth(), results = S.out_channels();
    constexpr std::int32_t in_pixel = S.is_depthwise ? 1 : channels;

    element_t<S.input.type> image[S.input.size[0] * height * width * channels]{};
    for (std::int32_t n = 0, i = 0; n != S.input.size[0]; ++n)
        for (std::int32_t iy = -S.pad.top; iy != height - S.pad.top; ++iy)
            for (std::int32_t ix = -S.pad.left; ix != width - S.pad.left; ++ix) {
                const bool is_inside = 0 <= iy && iy < S.input.size[1] && 0 <= ix && ix < S.input.size[2];
                std::int32_t from = is_inside ? S.input.at(n, iy, ix, 0) : 0;
                for (std::int32_t c = 0; c != channels; ++c, ++i, from += S.input.stride[3])
                    image[i] = is_inside ? x[from] : static_cast<element_t<S.input.type>>(S.input_zero);
            }
    // A weight's place is the sum of its channel's and that of its k.
    std::int32_t taps[depth]{}, places[depth]{};
    for (std::int32_t k = 0; k != depth; ++k) {
        const std::int32_t pixel = k / in_pixel;
        const std::int32_t row = pixel / S.kernel.width * S.dilation.height;
        const std::int32_t column = pixel % S.kernel.width * S.dilation.width;
        taps[k] = (row * width + column) * channels + k % in_pixel;
        places[k] = weight_at(S, 0, k);
    }
    decltype(weight_less_zero<S>({})) rows[results * depth]{};
    for (std::int32_t oc = 0, i = 0; oc != results; ++oc)
        for (std::int32_t k = 0, first = weight_at(S, oc, 0); k != depth; ++k)
            rows[i++] = weight_less_zero<S>(w[first + places[k]]);

    for (std::int32_t n = 0; n != S.output.size[0]; ++n)
        for (std::int32_t oy = 0; oy != S.output.size[1]; ++oy)
            for (std::int32_t ox = 0; ox != S.output.size[2]; ++ox) {
                const std::int32_t window =
                    ((n * height + oy * S.stride.height) * width + ox * S.stride.width) * channels;
                for (std::int32_t oc = 0; oc != results; ++oc) {
                    const std::int32_t first = window + (S.is_depthwise ? oc / S.multiplier() : 0);
                    const std::int32_t row = oc * depth;
                    total sum = bias_of(q[oc]);
                    for (std::int32_t k = 0; k != depth; ++k) sum += image[first + taps[k]] * rows[row + k];
                    store<S.output.type>(y + S.output.at(n, oy, ox, oc),
                        Finish::of(result_of<S>(static_cast<sum_t<S>>(sum), q[oc]),
                            load<Extra.type>(extra + Extra.at(n, oy, ox, oc))...));
                }
            }
}

/// All layouts, types and attributes by loops over indices. Elements of the input are read through `x`.
template <convolution S, class Finish, tensor... Extra>
void convolve_by_index(const element_t<S.input.type>* x, const element_t<Extra.type>*... extra,
    const weight_t<S>* w, const per_channel_t<S>* q, element_t<S.output.type>* y) {
    constexpr std::int32_t in_channels = S.is_depthwise ? 1 : S.in_channels();
    for (std::int32_t n = 0; n != S.output.size[0]; ++n)
        for (std::int32_t oy = 0; oy != S.output.size[1]; ++oy)
            for (std::int32_t ox = 0; ox != S.output.size[2]; ++ox)
                for (std::int32_t oc = 0; oc != S.output.size[3]; ++oc) {
                    sum_t<S> sum = bias_of(q[oc]);
                    const std::int32_t first = S.is_depthwise ? oc / S.multiplier() : 0;
                    for (std::int32_t ky = 0, k = 0; ky != S.kernel.height; ++ky)
                        for (std::int32_t kx = 0; kx != S.kernel.width; ++kx) {
                            const std::int32_t iy = oy * S.stride.height - S.pad.top + ky * S.dilation.height;
                            const std::int32_t ix = ox * S.stride.width - S.pad.left + kx * S.dilation.width;
                            const bool is_inside =
                                0 <= iy && iy < S.input.size[1] && 0 <= ix && ix < S.input.size[2];
                            for (std::int32_t ic = 0; ic != in_channels; ++ic, ++k)
                                sum = multiply_add(sum,
                                    is_inside ? x[S.input.at(n, iy, ix, first + ic)]
                                              : static_cast<element_t<S.input.type>>(S.input_zero),
                                    weight_less_zero<S>(w[weight_at(S, oc, k)]));
                        }
                    store<S.output.type>(y + S.output.at(n, oy, ox, oc),
                        Finish::of(
                            result_of<S>(sum, q[oc]), load<Extra.type>(extra + Extra.at(n, oy, ox, oc))...));
                }
}

/// In place, pixel by pixel: the channels of one are copied before its results are written.
template <convolution S, class Finish, tensor... Extra>
void convolve_over_pixels(const element_t<S.input.type>* x, const element_t<Extra.type>*... extra,
    const weight_t<S>* w, const per_channel_t<S>* q, element_t<S.output.type>* y) {
    constexpr convolution pixel = [] {
        convolution one = S;
        one.input = dense(S.input.type, 1, 1, 1, S.in_channels());
        one.output.size[0] = one.output.size[1] = one.output.size[2] = 1;
        return one;
    }();
    for (std::int32_t n = 0; n != S.output.size[0]; ++n)
        for (std::int32_t i = 0; i != S.output.size[1]; ++i)
            for (std::int32_t j = 0; j != S.output.size[2]; ++j) {
                std::array<element_t<S.input.type>, static_cast<std::size_t>(S.in_channels())> copy{};
                for (std::int32_t c = 0; c != S.in_channels(); ++c)
                    copy[static_cast<std::size_t>(c)] = x[S.input.at(n, i, j, c)];
                convolve_by_index<pixel, Finish, Extra...>(copy.data(),
                    extra + (Extra.at(n, i, j, 0) - Extra.offset)..., w, q,
                    y + (S.output.at(n, i, j, 0) - S.output.offset));
            }
}

/// In place, plane by plane.
template <convolution S, class Finish, tensor... Extra>
void convolve_over_planes(const element_t<S.input.type>* x, const element_t<Extra.type>*... extra,
    const weight_t<S>* w, const per_channel_t<S>* q, element_t<S.output.type>* y) {
    constexpr std::int32_t height = S.input.size[1], width = S.input.size[2];
    constexpr convolution plane = [] {
        convolution one = S;
        one.input = dense(S.input.type, 1, height, width, 1);
        one.output.size[0] = one.output.size[3] = 1;
        return one;
    }();
    for (std::int32_t n = 0; n != S.output.size[0]; ++n)
        for (std::int32_t c = 0; c != S.in_channels(); ++c) {
            std::array<element_t<S.input.type>, static_cast<std::size_t>(height * width)> copy{};
            for (std::int32_t i = 0; i != height * width; ++i)
                copy[static_cast<std::size_t>(i)] = x[S.input.at(n, i / width, i % width, c)];
            convolve_by_index<plane, Finish, Extra...>(copy.data(),
                extra + (Extra.at(n, 0, 0, c) - Extra.offset)..., w + weight_at(S, c, 0), q + c,
                y + (S.output.at(n, 0, 0, c) - S.output.offset));
        }
}

}  // namespace headrace::on_device::detail

#endif
