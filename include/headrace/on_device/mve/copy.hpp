// SPDX-License-Identifier: MIT
// Defines headrace::on_device::detail::copy_short_rows, which copies rows of at most 16 bytes by Helium.
#ifndef HEADRACE_ON_DEVICE_MVE_COPY_HPP
#define HEADRACE_ON_DEVICE_MVE_COPY_HPP

#include <cstdint>

namespace headrace::on_device::detail {

/// `width` is at most 16; `row` and `pitch` are the distances of rows in bytes.
[[gnu::naked, gnu::noinline]] inline void copy_short_rows(const std::int8_t* /*from*/, std::int8_t* /*to*/,
    std::int32_t /*rows*/, std::int32_t /*width*/, std::int32_t /*row*/, std::int32_t /*pitch*/) {
    asm(R"(
    push {r4-r8, lr}
    ldrd r4, r5, [sp, #24]
    vctp.8 r3
    add r6, r0, r4
    add r7, r1, r5
    lsls r4, r4, #1
    lsls r5, r5, #1
    lsrs r3, r2, #1
    wls lr, r3, 2f
1:  vpstttt
    vldrbt.8 q0, [r0]
    vldrbt.8 q1, [r6]
    vstrbt.8 q0, [r1]
    vstrbt.8 q1, [r7]
    add r0, r4
    add r1, r5
    add r6, r4
    add r7, r5
    le lr, 1b
2:  lsls r2, r2, #31
    beq 3f
    vpstt
    vldrbt.8 q0, [r0]
    vstrbt.8 q0, [r1]
3:  pop {r4-r8, pc}
    )");
}

}  // namespace headrace::on_device::detail

#endif
