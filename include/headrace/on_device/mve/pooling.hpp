// SPDX-License-Identifier: MIT
// Defines the kernel of headrace::on_device::avg_pool2d for Helium.
#ifndef HEADRACE_ON_DEVICE_MVE_POOLING_HPP
#define HEADRACE_ON_DEVICE_MVE_POOLING_HPP

#include <arm_mve.h>

#include <cstdint>

#include <headrace/on_device/portable/pooling.hpp>

namespace headrace::on_device {

namespace detail {
/// Adds up to 16 bytes that follow each other by one instruction.
struct mve_sums {
    HEADRACE_SHARED static std::int32_t add(
        std::int32_t sum, const std::int8_t* x, std::int32_t n, std::int32_t) {
        for (; n >= 16; n -= 16, x += 16) sum = vaddvaq_s8(sum, vldrbq_s8(x));
        if (n <= 0) return sum;
        const mve_pred16_t lanes = vctp8q(static_cast<std::uint32_t>(n));
        return vaddvaq_p_s8(sum, vldrbq_z_s8(x, lanes), lanes);
    }
};
}  // namespace detail

template <pooling P, class Finish>
    requires(P.input.type == element::int8 && P.input.stride[2] == 1)
struct kernel<avg_pool2d<P, Finish>, mve> : detail::averages<P, Finish, detail::mve_sums> {};

}  // namespace headrace::on_device

#endif
