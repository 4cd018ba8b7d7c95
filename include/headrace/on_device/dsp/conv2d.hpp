// SPDX-License-Identifier: MIT
// Defines the kernels of headrace::on_device::conv2d for the DSP extension.
#ifndef HEADRACE_ON_DEVICE_DSP_CONV2D_HPP
#define HEADRACE_ON_DEVICE_DSP_CONV2D_HPP

#include <cstdint>

#include <headrace/on_device/choice.hpp>
#include <headrace/on_device/portable/conv2d.hpp>
#include <headrace/on_device/dsp/gemm.hpp>
#include <headrace/on_device/dsp/planes.hpp>

namespace headrace::on_device {

template <convolution S, class Finish, tensor... Extra>
    requires(detail::has_blocks(S, core_id::dsp))
struct kernel<conv2d<S, Finish, Extra...>, dsp> {
    static_assert(!S.is_in_place || can_be_in_place(S), "this convolution cannot write over its input");
    static constexpr std::int32_t scratch = choose(S, core_id::dsp).scratch;

    static void run(const std::int8_t* x, const element_t<Extra.type>*... extra, const std::int8_t* w,
        const channel* q, std::int8_t* y, std::int8_t* memory = nullptr) {
        if constexpr (S.is_depthwise) {
            using planes = detail::dsp_planes<detail::dsp_key(S), S.scale>;
            detail::run_planes<planes, S, core_id::dsp>(x, w, q, y, memory);
            detail::finish<S, dsp, Finish, Extra...>(extra..., y);
        } else {
            detail::run_patches_and_finish<detail::dsp_patches, S, dsp, Finish, Extra...>(
                x, extra..., w, q, y, memory);
        }
    }
};

}  // namespace headrace::on_device

#endif
