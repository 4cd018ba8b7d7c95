// SPDX-License-Identifier: MIT
// Defines headrace::on_device::conv2d, a convolution as an operator, and its portable kernel.
#ifndef HEADRACE_ON_DEVICE_PORTABLE_CONV2D_HPP
#define HEADRACE_ON_DEVICE_PORTABLE_CONV2D_HPP

#include <array>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <headrace/on_device/choice.hpp>
#include <headrace/on_device/convolution.hpp>
#include <headrace/on_device/convolution_loops.hpp>
#include <headrace/on_device/core.hpp>
#include <headrace/on_device/elementwise.hpp>
#include <headrace/on_device/image_copy.hpp>
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
    const typename Patches::per_channel* q, typename Patches::result* y, std::int8_t* scratch) {
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
    const typename Planes::per_channel* q, typename Planes::result* y, std::int8_t* scratch) {
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
using finish_stored = std::conditional_t<S.scale != scaling::none &&
        (S.minimum > lowest_of(S.output.type) || S.maximum < highest_of(S.output.type)),
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
                kernel<elementwise<finish_stored<S, Finish>, row, row, row>, Core>::run(
                    block + i * channels, out[i], out[i]);
    }
};

template <class Patches, convolution S, class Core, class Finish, tensor... Extra>
HEADRACE_INLINE void run_patches_and_finish(const std::int8_t* x, const element_t<Extra.type>*... extra,
    const std::int8_t* w, const typename Patches::per_channel* q, typename Patches::result* y,
    std::int8_t* scratch) {
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
                detail::run_patches_and_finish<patches, S, portable, Finish, Extra...>(
                    x, extra..., w, q, y, memory);
            }
        }
    }
};

}  // namespace headrace::on_device

#endif
