// SPDX-License-Identifier: MIT
// Defines headrace::on_device::conv2d, a convolution as an operator, and its portable kernel.
#ifndef HEADRACE_ON_DEVICE_CONV2D_HPP
#define HEADRACE_ON_DEVICE_CONV2D_HPP

#include <array>
#include <cstdint>
#include <type_traits>

#include <headrace/on_device/choice.hpp>
#include <headrace/on_device/convolution.hpp>
#include <headrace/on_device/core.hpp>
#include <headrace/on_device/packing.hpp>
#include <headrace/on_device/scale.hpp>
#include <headrace/on_device/tensor.hpp>

namespace headrace::on_device {

/// The operator as a type: equal descriptions share their code. `Finish::of` takes each value of the result, scaled
/// and clamped, with the values of `Extra` operands at its index, and gives what is stored: a residual sum, for
/// example. Those operands have the sizes of the output and do not share its memory.
/// `run(input, extra…, weights, channels, output, scratch)`.
template <convolution S, class Finish = as_it_is, tensor... Extra>
struct conv2d {};

namespace detail {
template <convolution S>
using weight_t = std::conditional_t<S.is_integer(), std::int8_t, float>;
template <convolution S>
using sum_t = std::conditional_t<!S.is_integer(), float,
                                 std::conditional_t<S.input.type == element::int8, std::int32_t, std::int64_t>>;
template <convolution S>
using per_channel_t = std::conditional_t<
    S.scale == scaling::none, sum_t<S>,
    std::conditional_t<S.input.type == element::int8, channel, wide_channel>>;

constexpr std::int32_t bias_of(const channel& q) { return q.bias; }
constexpr std::int64_t bias_of(const wide_channel& q) { return q.bias; }
constexpr auto bias_of(auto bias) { return bias; }

/// sum + a * b, which wraps.
constexpr float multiply_add(float sum, float a, float b) { return sum + a * b; }
template <class Sum>
HEADRACE_INLINE constexpr Sum multiply_add(Sum sum, std::int32_t a, std::int32_t b) {
    using bits = std::make_unsigned_t<Sum>;
    return static_cast<Sum>(static_cast<bits>(sum) + static_cast<bits>(Sum{a * b}));
}

/// The value that `Finish` takes: scaled and clamped.
template <convolution S>
HEADRACE_INLINE constexpr auto result_of(sum_t<S> sum, const per_channel_t<S>& q) {
    if constexpr (S.scale == scaling::none)
        return sum;
    else if constexpr (S.input.type == element::int8)
        return clamped(scaled<S.scale>(sum, q), S.minimum, S.maximum);
    else
        return clamped(scaled(sum, q), S.minimum, S.maximum);
}

/// All layouts, types and attributes by loops over indices. Elements of the input are read through `x`.
template <convolution S, class Finish, tensor... Extra>
constexpr void convolve_by_index(const element_t<S.input.type>* x, const element_t<Extra.type>*... extra,
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
                                                   w[weight_at(S, oc, k)]);
                        }
                    y[S.output.at(n, oy, ox, oc)] = static_cast<element_t<S.output.type>>(
                        Finish::of(result_of<S>(sum, q[oc]), extra[Extra.at(n, oy, ox, oc)]...));
                }
}
}  // namespace detail

template <convolution S, class Finish, tensor... Extra>
struct kernel<conv2d<S, Finish, Extra...>, portable> {
    static_assert(!S.is_in_place || can_be_in_place(S), "this convolution cannot write over its input");
    static constexpr std::int32_t scratch = 0;
    static constexpr void run(const element_t<S.input.type>* x, const element_t<Extra.type>*... extra,
                              const detail::weight_t<S>* w, const detail::per_channel_t<S>* q,
                              element_t<S.output.type>* y, std::int8_t* = nullptr) {
        if constexpr (S.is_in_place) {
            std::array<element_t<S.input.type>, static_cast<std::size_t>(S.input.span)> copy{};
            for (std::int32_t i = 0; i != S.input.span; ++i) copy[static_cast<std::size_t>(i)] = x[i];
            detail::convolve_by_index<S, Finish, Extra...>(copy.data(), extra..., w, q, y);
        } else {
            detail::convolve_by_index<S, Finish, Extra...>(x, extra..., w, q, y);
        }
    }
};

}  // namespace headrace::on_device

#endif
