// SPDX-License-Identifier: MIT
// Defines the kernels of headrace::on_device::conv2d for Helium.
#ifndef HEADRACE_ON_DEVICE_MVE_CONV2D_HPP
#define HEADRACE_ON_DEVICE_MVE_CONV2D_HPP

#include <cstdint>
#include <type_traits>

#include <headrace/on_device/choice.hpp>
#include <headrace/on_device/portable/conv2d.hpp>
#include <headrace/on_device/mve/gemm.hpp>
#include <headrace/on_device/mve/planes.hpp>
#include <headrace/on_device/mve/strips.hpp>

namespace headrace::on_device {

template <convolution S, class Finish, tensor... Extra>
    requires(detail::has_blocks(S, core_id::mve))
struct kernel<conv2d<S, Finish, Extra...>, mve> {
    static_assert(!S.is_in_place || can_be_in_place(S), "this convolution cannot write over its input");
    static constexpr std::int32_t scratch = choose(S, core_id::mve).scratch;

    static void run(const std::int8_t* x, const element_t<Extra.type>*... extra, const std::int8_t* w,
        const channel* q, std::int8_t* y, std::int8_t* memory = nullptr) {
        if constexpr (S.is_depthwise) {
            constexpr detail::plane_plan plan = detail::planes_on(S, core_id::mve);
            if constexpr (detail::is_narrow(plan))
                detail::run_planes<detail::mve_narrow_planes<detail::narrow(plan), plan.stride_width == 2>, S,
                    core_id::mve>(x, w, q, y, memory);
            else if constexpr (detail::has_strips(S))
                detail::run_planes<detail::mve_strips<detail::strips_of(plan), plan.stride_width == 2>, S,
                    core_id::mve>(x, w, q, y, memory);
            else
                detail::run_planes<detail::mve_wide_planes, S, core_id::mve>(x, w, q, y, memory);
            detail::finish<S, mve, Finish, Extra...>(extra..., y);
        } else {
            detail::run_patches_and_finish<detail::mve_patches, S, mve, Finish, Extra...>(
                x, extra..., w, q, y, memory);
        }
    }
};

}  // namespace headrace::on_device

#endif
