// SPDX-License-Identifier: MIT
// Defines headrace::on_device::detail::convolve_row_pairs, which convolves every second window of 3 x 3 in a
// plane of int16 by the DSP extension's SMLAD.
#ifndef HEADRACE_ON_DEVICE_DSP_ROW_PAIRS_HPP
#define HEADRACE_ON_DEVICE_DSP_ROW_PAIRS_HPP

#include <cstdint>

#include <headrace/on_device/planes.hpp>
#include <headrace/on_device/scale.hpp>

namespace headrace::on_device::detail {

/// The members of a plan that the loops over a plane's pairs of windows read. Distances of the copy are in
/// bytes.
struct row_pairs_plan {
    std::int32_t out_pixel, out_height, pitch;
    std::int32_t pairs;               ///< bytes of a row's results that are whole pairs
    std::int32_t is_odd;              ///< a row has one more window
    std::int32_t row_step, out_step;  ///< from the end of a row to the next one
};
/// Rows of the plane have an even number of elements, and those of results two windows or more.
constexpr row_pairs_plan row_pairs_of(const plane_plan& p) {
    const std::int32_t is_odd = p.out_width & 1, even = p.out_width - is_odd;
    return {p.out_pixel, p.out_height, 2 * p.pitch, even * p.out_pixel, is_odd,
        2 * (p.stride_height * p.pitch - 2 * (even + 2 * is_odd)), p.out_row - even * p.out_pixel};
}

/// One channel, by pairs of windows that follow each other in a row: of five elements, the third is in both.
/// r0..r2 are the rows of the plane, whose elements are taken by pairs, and r3 the results; r4..r9 taps 0 and
/// 1, and 1 and 2, of each row; r10 and r11 sums; r12 and lr elements. With these all registers are taken, so
/// the scale is loaded for each pair. A last window without a second one has a distance of 0 and is stored
/// over the second one's result.
[[gnu::naked, gnu::noinline]] inline void convolve_row_pairs(const std::int16_t* /*plane*/,
    const std::int8_t* /*w*/, const channel* /*q*/, std::int8_t* /*out*/, const row_pairs_plan* /*plan*/) {
    // On the stack: 0 multiplier, addend, shift, distance of results; 16 end of the row's results, 20 bias,
    // 24 rows left; 68 the plan.
    asm(R"(
    push {r4-r11, lr}
    sub sp, #32
    ldr r12, [sp, #68]
    ldm r2, {r4-r7}
    ldrd r8, r9, [r12]
    strd r5, r6, [sp]
    strd r7, r8, [sp, #8]
    strd r4, r9, [sp, #20]
    ldr r10, [r1]
    sxtb16 r11, r10
    sxtb16 r10, r10, ror #8
    pkhbt r4, r11, r10, lsl #16
    pkhtb r5, r11, r10
    ldr r10, [r1, #3]
    sxtb16 r11, r10
    sxtb16 r10, r10, ror #8
    pkhbt r6, r11, r10, lsl #16
    pkhtb r7, r11, r10
    ldr r10, [r1, #5]
    sxtb16 r11, r10
    sxtb16 r10, r10, ror #8
    pkhtb r8, r11, r10
    pkhtb r9, r10, r11, asr #16
    ldr r10, [r12, #8]
    add r1, r0, r10
    add r2, r1, r10
0:  ldr r10, [r12, #12]
    adds r10, r10, r3
    str r10, [sp, #16]
1:  ldr r10, [sp, #20]
    mov r11, r10
    ldrd r12, lr, [r0], #8
    smlad r10, r12, r4, r10
    ldr r12, [r0]
    smlad r11, lr, r4, r11
    smlabt r10, lr, r5, r10
    smlabt r11, r12, r5, r11
    ldrd r12, lr, [r1], #8
    smlad r10, r12, r6, r10
    ldr r12, [r1]
    smlad r11, lr, r6, r11
    smlabt r10, lr, r7, r10
    smlabt r11, r12, r7, r11
    ldrd r12, lr, [r2], #8
    smlad r10, r12, r8, r10
    ldr r12, [r2]
    smlad r11, lr, r8, r11
    smlabt r10, lr, r9, r10
    smlabt r11, r12, r9, r11
    ldrd r12, lr, [sp]
    smmla r10, r10, r12, lr
    smmla r11, r11, r12, lr
    ldrd r12, lr, [sp, #8]
    asr r10, r10, r12
    asr r11, r11, r12
    ldr r12, [sp, #16]
    ssat r11, #8, r11
    ssat r10, #8, r10
    strb r11, [r3, lr]
    strb r10, [r3]
    add r3, r3, lr, lsl #1
    cmp r3, r12
    bne 1b
2:  ldr r12, [sp, #68]
    ldr r10, [r12, #16]
    cmp r10, #0
    beq 4f
    ldr lr, [sp, #12]
    cmp lr, #0
    beq 3f
    mov lr, #0
    str lr, [sp, #12]
    str r3, [sp, #16]
    b 1b
3:  ldr lr, [r12]
    str lr, [sp, #12]
4:  ldrd r10, r11, [r12, #20]
    ldr lr, [sp, #24]
    add r0, r10
    add r1, r10
    add r2, r10
    add r3, r11
    subs lr, lr, #1
    str lr, [sp, #24]
    bne 0b
    add sp, #32
    pop {r4-r11, pc}
    )");
}

}  // namespace headrace::on_device::detail

#endif
