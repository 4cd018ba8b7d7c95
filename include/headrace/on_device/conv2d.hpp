// SPDX-License-Identifier: MIT
// Defines headrace::on_device::conv2d, a convolution as an operator, and its portable kernel.
#ifndef HEADRACE_ON_DEVICE_CONV2D_HPP
#define HEADRACE_ON_DEVICE_CONV2D_HPP

#include <array>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <headrace/on_device/choice.hpp>
#include <headrace/on_device/convolution.hpp>
#include <headrace/on_device/core.hpp>
#include <headrace/on_device/elementwise.hpp>
#include <headrace/on_device/number.hpp>
#include <headrace/on_device/packing.hpp>
#include <headrace/on_device/patches.hpp>
#include <headrace/on_device/planes.hpp>
#include <headrace/on_device/portable/gemm.hpp>
#include <headrace/on_device/portable/planes.hpp>
#include <headrace/on_device/scale.hpp>
#include <headrace/on_device/tensor.hpp>

namespace headrace::on_device {

/// The operator as a type: equal descriptions share their code. `Finish::of` takes each value of the result,
/// scaled and clamped, with the values of `Extra` operands at its index, and gives what is stored: a residual
/// sum, for example. Those operands have the sizes of the output, and share its memory only if the
/// description says so. `run(input, extra…, weights, channels, output, scratch)`.
template <convolution S, class Finish = as_it_is, tensor... Extra>
struct conv2d {};

namespace detail {
template <convolution S>
using weight_t = std::conditional_t<S.is_integer(), std::int8_t, element_t<S.input.type>>;
template <convolution S>
using sum_t =
    std::conditional_t<!S.is_integer(), float,
                       std::conditional_t<S.input.type == element::int8, std::int32_t, std::int64_t>>;
template <convolution S>
using per_channel_t =
    std::conditional_t<S.scale == scaling::none, sum_t<S>,
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
                                    const weight_t<S>* w, const per_channel_t<S>* q,
                                    element_t<S.output.type>* y) {
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
                                                   is_inside
                                                       ? x[S.input.at(n, iy, ix, first + ic)]
                                                       : static_cast<element_t<S.input.type>>(S.input_zero),
                                                   weight_less_zero<S>(w[weight_at(S, oc, k)]));
                        }
                    store<S.output.type>(y + S.output.at(n, oy, ox, oc),
                                         Finish::of(result_of<S>(sum, q[oc]),
                                                    load<Extra.type>(extra + Extra.at(n, oy, ox, oc))...));
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
                convolve_by_index<pixel, Finish, Extra...>(
                    copy.data(), extra + (Extra.at(n, i, j, 0) - Extra.offset)..., w, q,
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
            convolve_by_index<plane, Finish, Extra...>(
                copy.data(), extra + (Extra.at(n, 0, 0, c) - Extra.offset)..., w + weight_at(S, c, 0), q + c,
                y + (S.output.at(n, 0, 0, c) - S.output.offset));
        }
}

/// Memory of `bytes` on the stack, or the scratch memory if that is not 0.
template <std::int32_t scratch, std::int32_t bytes, class F>
HEADRACE_INLINE void with_memory(std::int8_t* memory, F f) {
    if constexpr (scratch != 0) {
        f(memory);
    } else {
        alignas(16) std::int8_t local[bytes];
        f(local);
    }
}

/// Blocks of patches, of the image itself or of a copy with its border.
template <class Patches, convolution S, core_id core>
HEADRACE_SHARED void run_patches(const std::int8_t* x, const std::int8_t* w,
                                 const typename Patches::per_channel* q, typename Patches::result* y,
                                 std::int8_t* scratch) {
    with_memory<scratch_bytes(S, core), work_bytes(S, core)>(scratch, [=](std::int8_t* memory) {
        static constexpr patch_plan plan = plan_of<Patches>(S);
        if constexpr (constexpr std::int32_t copied = image_copy_bytes(S); copied != 0) {
            static constexpr patch_plan plan_of_copy = plan_of<Patches>(on_copy(S), true);
            alignas(16) std::int8_t copy[copied + behind_copy<Patches>(on_copy(S))];
            copy_image(plan, x, copy);
            convolve_patches<Patches>(plan_of_copy, copy, w, q, y, memory);
        } else {
            convolve_patches<Patches>(plan, x, w, q, y, memory);
        }
    });
}

template <class Planes, convolution S, core_id core>
HEADRACE_SHARED void run_planes(const std::int8_t* x, const std::int8_t* w,
                                const typename Planes::per_channel* q, typename Planes::result* y,
                                std::int8_t* scratch) {
    with_memory<scratch_bytes(S, core), work_bytes(S, core)>(scratch, [=](std::int8_t* memory) {
        static constexpr plane_plan plan = planes_on(S, core);
        convolve_planes<Planes>(plan, x, w, q, y, memory);
    });
}

template <std::int32_t minimum, std::int32_t maximum, class Finish>
struct clamp_and_finish {
    static constexpr auto of(auto v, auto... extra) {
        return Finish::of(clamp<minimum, maximum>(v), extra...);
    }
};

/// The function of stored values, which kernels saturate only.
template <convolution S, class Finish>
using finish_stored = std::conditional_t<S.scale != scaling::none && (S.minimum > lowest_of(S.output.type) ||
                                                                      S.maximum < highest_of(S.output.type)),
                                         clamp_and_finish<S.minimum, S.maximum, Finish>, Finish>;

/// Clamps and finishes stored values.
template <convolution S, class Core, class Finish, tensor... Extra>
HEADRACE_INLINE void finish(const element_t<Extra.type>*... extra, element_t<S.output.type>* y) {
    using function = finish_stored<S, Finish>;
    if constexpr (!std::is_same_v<function, as_it_is>)
        kernel<elementwise<function, S.output, S.output, Extra...>, Core>::run(y, extra..., y);
}

/// Patches whose results are finished block by block, each with the operand that it is written over.
template <class Patches, convolution S, class Core, class Finish>
struct residual_patches : Patches {
    using result = typename Patches::result;
    static constexpr std::int32_t channels = S.out_channels();

    static void multiply(const patch_plan& p, std::int8_t* patch, const std::int8_t* w,
                         const typename Patches::per_channel* q, result* const* out, std::int32_t pixels) {
        constexpr tensor row = dense(S.output.type, channels);
        constexpr std::int32_t width = patch_width<Patches>;
        auto* const block =
            reinterpret_cast<result*>(patch + p.chunks * Patches::chunk * (p.pixels * width + 1));
        result* results[Patches::most_pixels];
        for (std::int32_t i = 0; i != Patches::most_pixels; ++i) results[i] = block + i * channels;
        Patches::multiply(p, patch, w, q, results, pixels);  // may step the pointers
        for (std::int32_t i = 0; i != pixels; ++i)
            if (i == 0 || out[i] != out[i - 1])  // a last block is filled up by its last pixel
                kernel<elementwise<finish_stored<S, Finish>, row, row, row>, Core>::run(block + i * channels,
                                                                                        out[i], out[i]);
    }
};

template <class Patches, convolution S, class Core, class Finish, tensor... Extra>
HEADRACE_INLINE void run_patches_and_finish(const std::int8_t* x, const element_t<Extra.type>*... extra,
                                            const std::int8_t* w, const typename Patches::per_channel* q,
                                            typename Patches::result* y, std::int8_t* scratch) {
    if constexpr (S.is_over_extra) {
        run_patches<residual_patches<Patches, S, Core, Finish>, S, Core::id>(x, w, q, y, scratch);
    } else {
        run_patches<Patches, S, Core::id>(x, w, q, y, scratch);
        finish<S, Core, Finish, Extra...>(extra..., y);
    }
}
}  // namespace detail

template <convolution S, class Finish, tensor... Extra>
struct kernel<conv2d<S, Finish, Extra...>, portable> {
    static_assert(!S.is_in_place || can_be_in_place(S), "this convolution cannot write over its input");
    static_assert(!S.is_over_extra || (can_be_over_extra(S) && sizeof...(Extra) == 1),
                  "this convolution cannot write over an operand");
    static constexpr std::int32_t scratch = choose(S, core_id::portable).scratch;
    using input = element_t<S.input.type>;
    using output = element_t<S.output.type>;
    using weight = detail::weight_t<S>;
    using per_channel = detail::per_channel_t<S>;

    static constexpr void run(const input* x, const element_t<Extra.type>*... extra, const weight* w,
                              const per_channel* q, output* y, std::int8_t* memory = nullptr) {
        if (std::is_constant_evaluated()) {
            detail::convolve_in_compiler<S, Finish, Extra...>(x, extra..., w, q, y);
        } else if constexpr (!detail::has_blocks(S, core_id::portable)) {
            if constexpr (!S.is_in_place)
                detail::convolve_by_index<S, Finish, Extra...>(x, extra..., w, q, y);
            else if constexpr (S.is_depthwise)
                detail::convolve_over_planes<S, Finish, Extra...>(x, extra..., w, q, y);
            else
                detail::convolve_over_pixels<S, Finish, Extra...>(x, extra..., w, q, y);
        } else {
            if constexpr (S.is_depthwise) {
                using planes = detail::portable_planes<S.scale, output, per_channel,
                                                       detail::key_of(S, core_id::portable)>;
                detail::run_planes<planes, S, core_id::portable>(x, w, q, y, memory);
                detail::finish<S, portable, Finish, Extra...>(extra..., y);
            } else {
                using patches = detail::portable_patches<S.scale, output, per_channel>;
                detail::run_patches_and_finish<patches, S, portable, Finish, Extra...>(x, extra..., w, q, y,
                                                                                       memory);
            }
        }
    }
};

}  // namespace headrace::on_device

#if defined(__ARM_FEATURE_DSP) && defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M'
#include <headrace/on_device/dsp/conv2d.hpp>
#endif
#if defined(__ARM_FEATURE_MVE)
#include <headrace/on_device/mve/conv2d.hpp>
#endif

#endif
