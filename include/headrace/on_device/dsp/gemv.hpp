// SPDX-License-Identifier: MIT
// Defines headrace::on_device::detail::gemv_4, which multiplies one pixel by four channels at a time by the
// DSP extension's SMLAD.
#ifndef HEADRACE_ON_DEVICE_DSP_GEMV_HPP
#define HEADRACE_ON_DEVICE_DSP_GEMV_HPP

#include <cstdint>

#include <headrace/on_device/scale.hpp>

namespace headrace::on_device::detail {

/// Products of one of the four pixels x[steps][4] (pairs of int16) and all channels, scaled by the high word:
/// for a matrix by a vector, and for pixels that fill no block of four. Two steps of two pairs of channels
/// take 20 instructions for 16 products, where a block of four pixels filled up by copies of one takes 52.
/// The loop's body has four steps and is entered where only the rest of the steps follows. A last pair
/// without a second one is multiplied twice, and stored once.
[[gnu::naked, gnu::noinline]] inline void gemv_4(const std::int32_t* /*x*/, const std::int8_t* /*w*/,
    const channel* /*q*/, std::int32_t /*channels*/, std::int8_t* /*out*/, std::int32_t /*channel_stride*/,
    std::int32_t /*steps*/) {
    // r4..r7 are the sums, r8 and r9 the weights of both pairs, r3 the end of the first, r10 x, and lr the
    // channels left. On the stack: 0 x, 4 where the loop is entered, 8 q, 56 out, 60 channel stride, 64 bytes
    // of the weights of a pair.
    asm(R"(
    push {r0-r12, lr}
    mov r8, r1
    mov lr, r3
    ldr r4, [sp, #64]
    lsls r5, r4, #2
    str r5, [sp, #64]
    lsrs r4, r4, #1
    rsb r4, r4, #0
    and r4, r4, #1
    movs r5, #80
    adr.w r6, 1f
    mla r6, r4, r5, r6
    orr r6, r6, #1
    str r6, [sp, #4]
0:  ldr r0, [sp, #8]
    ldr r1, [sp, #64]
    ldr r4, [r0]
    ldr r5, [r0, #16]
    add r3, r8, r1
    mov r9, r8
    cmp lr, #2
    itt gt
    movgt r9, r3
    addgt r0, #32
    ldr r6, [r0]
    ldr r7, [r0, #16]
    ldr.w r10, [sp]
    ldr.w pc, [sp, #4]
    .p2align 2
1:  .rept 2
    ldr r11, [r10], #16
    ldr r12, [r10], #16
    ldrd r0, r1, [r8], #8
    sxtb16 r2, r0
    sxtb16 r0, r0, ror #8
    smlad r4, r2, r11, r4
    smlad r5, r0, r11, r5
    sxtb16 r2, r1
    sxtb16 r1, r1, ror #8
    smlad r4, r2, r12, r4
    smlad r5, r1, r12, r5
    ldrd r0, r1, [r9], #8
    sxtb16 r2, r0
    sxtb16 r0, r0, ror #8
    smlad r6, r2, r11, r6
    smlad r7, r0, r11, r7
    sxtb16 r2, r1
    sxtb16 r1, r1, ror #8
    smlad r6, r2, r12, r6
    smlad r7, r1, r12, r7
    .endr
    cmp r8, r3
    bne.w 1b
    ldr r0, [sp, #8]
    ldrd r10, r11, [sp, #56]
    .irp sum, r4, r5, r6, r7
    ldm r0!, {r1, r2, r3, r12}
    smmla \sum, \sum, r2, r3
    asr \sum, \sum, r12
    ssat \sum, #8, \sum
    strb.w \sum, [r10]
    add r10, r11
    subs.w lr, lr, #1
    beq 2f
    .endr
    str r0, [sp, #8]
    str.w r10, [sp, #56]
    mov r8, r9
    b 0b
2:  add sp, #16
    pop {r4-r12, pc}
    )");
}

}  // namespace headrace::on_device::detail

#endif
