// SPDX-License-Identifier: MIT
// Defines the kernel of headrace::on_device::avg_pool2d for the DSP extension.
#ifndef HEADRACE_ON_DEVICE_DSP_POOLING_HPP
#define HEADRACE_ON_DEVICE_DSP_POOLING_HPP

#include <arm_acle.h>

#include <cstdint>
#include <type_traits>

#include <headrace/on_device/dsp/gemm.hpp>
#include <headrace/on_device/portable/pooling.hpp>

namespace headrace::on_device {

namespace detail {
/// Adds four bytes that follow each other by two instructions.
struct dsp_sums {
    HEADRACE_SHARED static std::int32_t add(
        std::int32_t sum, const std::int8_t* x, std::int32_t n, std::int32_t step) {
        if (step == 1) {
#pragma GCC unroll 4
            for (; n >= 4; n -= 4, x += 4) {
                const std::int32_t v = load_word(x);
                sum = __smlad(even_bytes(v), 0x00010001, sum), sum = __smlad(odd_bytes(v), 0x00010001, sum);
            }
        }
        for (; n > 0; --n, x += step) sum += *x;
        return sum;
    }
};
}  // namespace detail

template <pooling P, class Finish>
    requires(P.input.type == element::int8 && P.input.stride[2] == 1)
struct kernel<avg_pool2d<P, Finish>, dsp> : detail::averages<P, Finish, detail::dsp_sums> {};

}  // namespace headrace::on_device

#endif
