// SPDX-License-Identifier: MIT
// Defines the kernel of headrace::on_device::matmul for the DSP extension.
#ifndef HEADRACE_ON_DEVICE_DSP_MATMUL_HPP
#define HEADRACE_ON_DEVICE_DSP_MATMUL_HPP

#include <arm_acle.h>

#include <cstdint>

#include <headrace/on_device/dsp/gemm.hpp>
#include <headrace/on_device/portable/matmul.hpp>

namespace headrace::on_device {

namespace detail {
/// Four k of a row are taken apart once for four columns: 23 instructions for 16 products.
struct dsp_dots {
    static constexpr std::int32_t chunk = 4;
    HEADRACE_SHARED static void four(
        const std::int8_t* a, const std::int8_t* b, std::int32_t column, std::int32_t n, std::int32_t* sums) {
        std::int32_t s = 0, t = 0, u = 0, v = 0;
        const std::int8_t *c = b + column, *d = c + column, *e = d + column;
        for (const std::int8_t* const end = a + n; a != end; a += 4, b += 4, c += 4, d += 4, e += 4) {
            const std::int32_t x = load_word(a), even = even_bytes(x), odd = odd_bytes(x);
            const auto add = [=](const std::int8_t* from, std::int32_t sum) {
                const std::int32_t y = load_word(from);
                return __smlad(odd, odd_bytes(y), __smlad(even, even_bytes(y), sum));
            };
            s = add(b, s), t = add(c, t), u = add(d, u), v = add(e, v);
        }
        sums[0] = s, sums[1] = t, sums[2] = u, sums[3] = v;
    }
};
}  // namespace detail

template <matrix_product M, class Finish, tensor... Extra>
    requires(M.a.type == element::int8)
struct kernel<matmul<M, Finish, Extra...>, dsp>
    : detail::matmul_by_rows<detail::dsp_dots, M, Finish, Extra...> {};

}  // namespace headrace::on_device

#endif
