// SPDX-License-Identifier: MIT
// Defines the kernel of headrace::on_device::matmul for Helium.
#ifndef HEADRACE_ON_DEVICE_MVE_MATMUL_HPP
#define HEADRACE_ON_DEVICE_MVE_MATMUL_HPP

#include <arm_mve.h>

#include <cstdint>

#include <headrace/on_device/portable/matmul.hpp>

namespace headrace::on_device {

namespace detail {
/// 16 k of a row by those of four columns: five loads and four VMLADAV.
struct mve_dots {
    static constexpr std::int32_t chunk = 16;
    HEADRACE_SHARED static void four(
        const std::int8_t* a, const std::int8_t* b, std::int32_t column, std::int32_t n, std::int32_t* sums) {
        std::int32_t s = 0, t = 0, u = 0, v = 0;
        const std::int8_t *c = b + column, *d = c + column, *e = d + column;
        for (; n != 0; n -= 16, a += 16, b += 16, c += 16, d += 16, e += 16) {
            const int8x16_t x = vldrbq_s8(a);
            s = vmladavaq_s8(s, x, vldrbq_s8(b)), t = vmladavaq_s8(t, x, vldrbq_s8(c));
            u = vmladavaq_s8(u, x, vldrbq_s8(d)), v = vmladavaq_s8(v, x, vldrbq_s8(e));
        }
        sums[0] = s, sums[1] = t, sums[2] = u, sums[3] = v;
    }
};
}  // namespace detail

template <matrix_product M, class Finish, tensor... Extra>
    requires(M.a.type == element::int8)
struct kernel<matmul<M, Finish, Extra...>, mve>
    : detail::matmul_by_rows<detail::mve_dots, M, Finish, Extra...> {};

}  // namespace headrace::on_device

#endif
