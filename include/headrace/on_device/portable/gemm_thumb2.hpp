// SPDX-License-Identifier: MIT
// Defines headrace::on_device::detail::gemm_2x4_thumb2, the portable blocks of two pixels by four channels
// for Armv7-M.
#ifndef HEADRACE_ON_DEVICE_PORTABLE_GEMM_THUMB2_HPP
#define HEADRACE_ON_DEVICE_PORTABLE_GEMM_THUMB2_HPP

#include <cstdint>

#include <headrace/on_device/scale.hpp>

namespace headrace::on_device::detail {

/// Products of two pixels x[chunk][2][4] and all channels, scaled by the high word: Cortex-M3 and all that
/// have Thumb-2. A k takes six loads and eight MLA with all 14 registers, which compilers do not manage
/// without spilling: 56 instructions for a chunk of four k, where g++ 12 has 64. The loop's body has four
/// chunks and is entered where only the rest of the chunks follows.
[[gnu::naked, gnu::noinline]] inline void gemm_2x4_thumb2(const std::int8_t* /*x*/, std::int32_t /*chunks*/,
    const std::int8_t* /*w*/, const channel* /*q*/, std::int32_t /*channels*/, std::int8_t* /*out0*/,
    std::int8_t* /*out1*/, std::int32_t /*channel_stride*/) {
    // On the stack: 0 x, 4 end of x, 8 where the loop is entered, 12 q, 48 offset of the channel, 56 channels
    // left, 60 out0, 64 out1, 68 channel stride.
    asm(R"(
    push {r0-r12, lr}
    add r4, r0, r1, lsl #3
    str r4, [sp, #4]
    rsb r4, r1, #0
    and r4, r4, #3
    movs r5, #224
    mul r4, r4, r5
    adr.w r5, 1f
    add r4, r5
    orr r4, r4, #1
    str r4, [sp, #8]
    movs r4, #0
    str r4, [sp, #48]
    mov r12, r2
0:  ldr r0, [sp, #12]
    ldr r4, [r0]
    ldr r5, [r0, #16]
    ldr r6, [r0, #32]
    ldr r7, [r0, #48]
    mov r8, r4
    mov r9, r5
    mov r10, r6
    mov r11, r7
    ldr.w lr, [sp]
    ldr.w pc, [sp, #8]
    .p2align 2
1:  .rept 4
    .irp next, 1, 1, 1, 5
    ldrsb r3, [lr, #4]
    ldrsb r2, [lr], #\next
    ldrsb r0, [r12], #1
    ldrsb r1, [r12], #1
    mla r4, r0, r2, r4
    mla r8, r0, r3, r8
    mla r5, r1, r2, r5
    mla r9, r1, r3, r9
    ldrsb r0, [r12], #1
    ldrsb r1, [r12], #1
    mla r6, r0, r2, r6
    mla r10, r0, r3, r10
    mla r7, r1, r2, r7
    mla r11, r1, r3, r11
    .endr
    .endr
    ldr r0, [sp, #4]
    cmp lr, r0
    bne.w 1b
    ldr.w lr, [sp, #12]
    .macro headrace_scale a, b
    ldm lr!, {r0-r3}
    smull r0, \a, \a, r1
    smull r0, \b, \b, r1
    add \a, \a, r2
    add \b, \b, r2
    asr \a, \a, r3
    asr \b, \b, r3
    ssat \a, #8, \a
    ssat \b, #8, \b
    .endm
    headrace_scale r4, r8
    headrace_scale r5, r9
    headrace_scale r6, r10
    headrace_scale r7, r11
    .purgem headrace_scale
    str.w lr, [sp, #12]
    ldrd r1, r2, [sp, #60]
    ldr r3, [sp, #48]
    ldr r0, [sp, #68]
    ldr.w lr, [sp, #56]
    strb r4, [r1, r3]
    strb.w r8, [r2, r3]
    cmp lr, #4
    blt 2f
    add r3, r0
    strb r5, [r1, r3]
    strb.w r9, [r2, r3]
    add r3, r0
    strb r6, [r1, r3]
    strb.w r10, [r2, r3]
    add r3, r0
    strb r7, [r1, r3]
    strb.w r11, [r2, r3]
    add r3, r0
    str r3, [sp, #48]
    subs lr, lr, #4
    str.w lr, [sp, #56]
    bne.w 0b
    b 3f
2:  cmp lr, #1
    beq 3f
    add r3, r0
    strb r5, [r1, r3]
    strb.w r9, [r2, r3]
    cmp lr, #2
    beq 3f
    add r3, r0
    strb r6, [r1, r3]
    strb.w r10, [r2, r3]
3:  add sp, #16
    pop {r4-r12, pc}
    )");
}

}  // namespace headrace::on_device::detail

#endif
