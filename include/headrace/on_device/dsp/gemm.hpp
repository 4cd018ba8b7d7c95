// SPDX-License-Identifier: MIT
// Defines headrace::on_device::detail::dsp_patches, which multiplies four pixels by two channels at a time by
// the DSP extension's SMLAD.
#ifndef HEADRACE_ON_DEVICE_DSP_GEMM_HPP
#define HEADRACE_ON_DEVICE_DSP_GEMM_HPP

#include <cstdint>
#include <cstring>

#include <headrace/on_device/copy.hpp>
#include <headrace/on_device/dsp/gemv.hpp>
#include <headrace/on_device/patches.hpp>
#include <headrace/on_device/scale.hpp>

namespace headrace::on_device::detail {

HEADRACE_INLINE std::int32_t load_word(const void* p) {
    std::int32_t v;
    std::memcpy(&v, p, sizeof v);
    return v;
}
HEADRACE_INLINE void store_word(void* p, std::int32_t v) { std::memcpy(p, &v, sizeof v); }
/// Bytes 0 and 2, and bytes 1 and 3, as pairs of int16.
HEADRACE_INLINE std::int32_t even_bytes(std::int32_t v) {
    std::int32_t r;
    asm("sxtb16 %0, %1" : "=r"(r) : "r"(v));
    return r;
}
HEADRACE_INLINE std::int32_t odd_bytes(std::int32_t v) {
    std::int32_t r;
    asm("sxtb16 %0, %1, ror #8" : "=r"(r) : "r"(v));
    return r;
}
/// The low halves of a and b, and the high ones, as pairs.
HEADRACE_INLINE std::int32_t low_halves(std::int32_t a, std::int32_t b) {
    std::int32_t r;
    asm("pkhbt %0, %1, %2, lsl #16" : "=r"(r) : "r"(a), "r"(b));
    return r;
}
HEADRACE_INLINE std::int32_t high_halves(std::int32_t a, std::int32_t b) {
    std::int32_t r;
    asm("pkhtb %0, %1, %2, asr #16" : "=r"(r) : "r"(b), "r"(a));
    return r;
}

/// Products of four pixels x[steps][4] (pairs of int16) and all channels, scaled by the high word. Each step
/// is two k of two channels: one word of weights and four of pixels give eight SMLAD, with all 14 registers:
/// eight sums, two pointers and four values. It is a function of its own, so that no compiler has to allocate
/// them. The loop's body has 16 steps and is entered where only the rest of the steps follows. A last channel
/// without a second one has a stride of 0 and is stored over the second one's results.
[[gnu::naked, gnu::noinline]] inline void gemm_4x2(const std::int32_t* /*x*/, const std::int8_t* /*w*/,
    const channel* /*q*/, std::int32_t /*channels*/, std::int8_t* /*out0*/, std::int8_t* /*out1*/,
    std::int8_t* /*out2*/, std::int8_t* /*out3*/, std::int32_t /*channel_stride*/, std::int32_t /*steps*/) {
    // On the stack: 4 channels, 8 x, 12 end of x, 16 q, 20 end of the weights of pairs of channels, 56 where
    // the loop is entered, 64 out0..3, 80 channel stride, 84 offset of the channel.
    asm(R"(
    push {r0-r12, lr}
    push {r2, r3}
    ldr r4, [sp, #84]
    add r5, r0, r4, lsl #4
    str r5, [sp, #12]
    lsrs r6, r3, #1
    mul r6, r4, r6
    add r6, r1, r6, lsl #2
    str r6, [sp, #20]
    rsb r5, r4, #0
    and r5, r5, #15
    movs r7, #52
    mul r5, r7, r5
    adr.w r7, 1f
    add r5, r7
    orr r5, r5, #1
    str r5, [sp, #56]
    movs r5, #0
    str r5, [sp, #84]
    mov r12, r1
    mov r0, r2
    cmp r12, r6
    beq.w 2f
0:  ldr r4, [r0]
    ldr r8, [r0, #16]
    mov r5, r4
    mov r6, r4
    mov r7, r4
    mov r9, r8
    mov r10, r8
    mov r11, r8
    ldr.w lr, [sp, #8]
    ldr.w pc, [sp, #56]
    .p2align 2
1:  .rept 16
    ldr r0, [r12], #4
    ldrd r2, r3, [lr], #8
    sxtb16 r1, r0
    sxtb16 r0, r0, ror #8
    smlad r4, r1, r2, r4
    smlad r8, r0, r2, r8
    smlad r5, r1, r3, r5
    smlad r9, r0, r3, r9
    ldrd r2, r3, [lr], #8
    smlad r6, r1, r2, r6
    smlad r10, r0, r2, r10
    smlad r7, r1, r3, r7
    smlad r11, r0, r3, r11
    .endr
    ldr r0, [sp, #12]
    cmp lr, r0
    bne.w 1b
    ldr r0, [sp, #16]
    ldm r0!, {r1, r2, r3, lr}
    .irp sum, r4, r5, r6, r7
    smmla \sum, \sum, r2, r3
    asr \sum, \sum, lr
    ssat \sum, #8, \sum
    .endr
    ldm r0!, {r1, r2, r3, lr}
    .irp sum, r8, r9, r10, r11
    smmla \sum, \sum, r2, r3
    asr \sum, \sum, lr
    ssat \sum, #8, \sum
    .endr
    str r0, [sp, #16]
    ldrd r1, r2, [sp, #64]
    ldrd r3, lr, [sp, #80]
    add r3, lr
    strb.w r8, [r1, r3]
    strb.w r4, [r1, lr]
    strb.w r9, [r2, r3]
    strb.w r5, [r2, lr]
    ldrd r1, r2, [sp, #72]
    strb.w r10, [r1, r3]
    strb.w r6, [r1, lr]
    strb.w r11, [r2, r3]
    strb.w r7, [r2, lr]
    rsb lr, lr, r3, lsl #1
    str.w lr, [sp, #84]
    ldr r1, [sp, #20]
    cmp r12, r1
    bne.w 0b
2:  ldr r1, [sp, #4]
    lsls r1, r1, #31
    beq 3f
    movs r1, #0
    str r1, [sp, #4]
    str r1, [sp, #80]
    ldrd r1, r2, [sp, #8]
    subs r2, r2, r1
    add r2, r12, r2, lsr #2
    str r2, [sp, #20]
    b.w 0b
3:  add sp, #24
    pop {r4-r12, pc}
    )");
}

/// Widens `rows` runs of words, `step` bytes apart, to pairs of int16 for one of four pixels; returns the
/// place after the last. The loop's body has eight words and is entered where only the rest of a run
/// follows.
[[gnu::naked, gnu::noinline]] inline std::int8_t* put_rows_of_4(const std::int8_t* /*from*/,
    std::int8_t* /*to*/, std::int32_t /*rows*/, std::int32_t /*words*/, std::int32_t /*step*/) {
    asm(R"(
    push {r4-r7, lr}
    ldr r7, [sp, #20]
    sub r7, r7, r3, lsl #2
    rsb r4, r3, #0
    and r4, r4, #7
    movs r5, #18
    adr.w r6, 1f
    mla r6, r4, r5, r6
    orr lr, r6, #1
    adds r3, #7
    lsrs r3, r3, #3
0:  mov r4, r3
    bx lr
    .p2align 2
1:  .rept 8
    ldr r5, [r0], #4
    sxtb16 r6, r5
    sxtb16 r5, r5, ror #8
    str r5, [r1, #16]
    str r6, [r1], #32
    .endr
    subs r4, #1
    bne 1b
    add r0, r7
    subs r2, #1
    bne 0b
    mov r0, r1
    pop {r4-r7, pc}
    )");
}

/// Patches of the DSP extension: [k / 4][k % 2][pixel], pairs of k and k + 2 as int16.
struct dsp_patches {
    using result = std::int8_t;
    using per_channel = channel;
    static constexpr std::int32_t most_pixels = 4, group = 4, chunk = 4, bytes_of_chunk = 32;
    static constexpr bool reads_no_more = true;  ///< than the window, for short rows

    /// True if so many pixels are multiplied: one or two that fill no block go one by one.
    static constexpr bool is_multiplied(std::int32_t pixels) { return pixels != 3; }
    /// From the place of a pixel to the next one's.
    static std::int32_t step(std::int32_t, std::int32_t) { return 4; }
    static std::int8_t* put_rows(
        const std::int8_t* from, std::int8_t* to, std::int32_t rows, std::int32_t chunks, std::int32_t step) {
        return put_rows_of_4(from, to, rows, chunks, step);
    }
    HEADRACE_INLINE static void put_chunk(const std::int8_t* from, std::int32_t* to) {
        const std::int32_t v = load_word(from);
        to[0] = even_bytes(v), to[4] = odd_bytes(v);
    }

    static void copy_rows(
        const std::int8_t* from, std::int8_t* to, std::int32_t rows, std::int32_t n, std::int32_t step) {
        for (; rows != 0; --rows, from += step) to = copy_bytes(to, from, n);
    }

    /// Puts four pixels that follow each other in each of the planes.
    static void put_planes(const patch_plan& p, const std::int8_t* from, std::int8_t* patch, std::int32_t) {
        const std::int32_t plane = p.in_channel;
        auto* to = reinterpret_cast<std::int32_t*>(patch);
        for (std::int32_t chunks = p.chunks; chunks != 0; --chunks, from += 2 * plane)
            for (int odd = 0; odd != 2; ++odd, from += plane, to += 4) {
                const std::int32_t a = load_word(from), b = load_word(from + 2 * plane);
                const std::int32_t a02 = even_bytes(a), a13 = odd_bytes(a), b02 = even_bytes(b),
                                   b13 = odd_bytes(b);
                to[0] = low_halves(a02, b02), to[1] = low_halves(a13, b13);
                to[2] = high_halves(a02, b02), to[3] = high_halves(a13, b13);
            }
    }

    static constexpr bool takes_short_rows(std::int32_t n, std::int32_t) { return n == chunk; }
    static void put_short_rows(
        const std::int8_t* from, std::int32_t chunks, std::int8_t* to, std::int32_t, std::int32_t step) {
        for (; chunks != 0; --chunks, from += step, to += bytes_of_chunk)
            put_chunk(from, reinterpret_cast<std::int32_t*>(to));
    }
    HEADRACE_SHARED static void multiply(const patch_plan& p, const std::int8_t* patch, const std::int8_t* w,
        const channel* q, std::int8_t* const* out, std::int32_t pixels) {
        const auto* x = reinterpret_cast<const std::int32_t*>(patch);
        if (pixels == 4)
            return gemm_4x2(
                x, w, q, p.out_channels, out[0], out[1], out[2], out[3], p.out_channel, p.chunks * 2);
        for (; pixels != 0; --pixels, ++x, ++out)
            gemv_4(x, w, q, p.out_channels, *out, p.out_channel, p.chunks * 2);
    }
};

}  // namespace headrace::on_device::detail

#endif
