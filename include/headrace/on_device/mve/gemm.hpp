// SPDX-License-Identifier: MIT
// Defines headrace::on_device::detail::mve_patches, which multiplies two pixels by four channels at a time by Helium's
// VMLADAV.
#ifndef HEADRACE_ON_DEVICE_MVE_GEMM_HPP
#define HEADRACE_ON_DEVICE_MVE_GEMM_HPP

#include <arm_mve.h>

#include <cstdint>

#include <headrace/on_device/mve/copy.hpp>
#include <headrace/on_device/patches.hpp>
#include <headrace/on_device/scale.hpp>

namespace headrace::on_device::detail {

// Products of two pixels x[chunks][2][16] and all channels. A chunk of 16 k takes six loads and eight VMLADAV, whose
// sums are in all eight even registers; loads and products alternate, because a core does both at once. The odd
// registers: r1 weights, r3 x, r5 the end of x, r7 where it is entered, r9 channels' scales, r11 channels left.
// The first chunk starts the sums; the loop has four more and is entered where the rest of them is behind it.
#define HEADRACE_CHUNK(multiply)      \
    "vldrb.8 q0, [r3], #16\n"         \
    "vldrb.8 q2, [r1], #16\n"         \
    multiply " r0, q0, q2\n"          \
    "vldrb.8 q1, [r3], #16\n"         \
    multiply " r8, q1, q2\n"          \
    "vldrb.8 q3, [r1], #16\n"         \
    multiply " r2, q0, q3\n"          \
    "vldrb.8 q2, [r1], #16\n"         \
    multiply " r10, q1, q3\n"         \
    multiply " r4, q0, q2\n"          \
    "vldrb.8 q3, [r1], #16\n"         \
    multiply " r12, q1, q2\n"         \
    multiply " r6, q0, q3\n"          \
    multiply " lr, q1, q3\n"
// On the stack: 0 offsets of four channels' results, 16 x; behind the saved registers 132 out0, 136 out1,
// 140 channel stride, 144 chunks. A last block of fewer channels stores under a predicate.
#define HEADRACE_GEMM(store)                \
    "push {r4-r11, lr}\n"                   \
    "vpush {d8-d15}\n"                      \
    "sub sp, #32\n"                         \
    "str r0, [sp, #16]\n"                   \
    "ldr r4, [sp, #140]\n"                  \
    "movs r5, #0\n"                         \
    "lsls r6, r4, #1\n"                     \
    "strd r5, r4, [sp]\n"                   \
    "add r7, r4, r6\n"                      \
    "strd r6, r7, [sp, #8]\n"               \
    "ldr r6, [sp, #144]\n"                   \
    "add r5, r0, r6, lsl #5\n"               \
    "subs r6, #1\n"                          \
    "ite eq\n"                               \
    "adreq.w r7, 2f\n"                       \
    "adrne.w r7, 1f\n"                       \
    "rsb r4, r6, #0\n"                       \
    "and r4, r4, #3\n"                       \
    "movs r6, #56\n"                         \
    "mla r7, r4, r6, r7\n"                   \
    "orr r7, r7, #1\n"                       \
    "mov r9, r2\n"                          \
    "mov r11, r3\n"                         \
    "0: ldr r3, [sp, #16]\n"                \
    HEADRACE_CHUNK("vmladav.s8")            \
    "bx r7\n"                               \
    ".p2align 2\n"                          \
    "1:\n"                                  \
    ".rept 4\n"                             \
    HEADRACE_CHUNK("vmladava.s8")           \
    ".endr\n"                               \
    "cmp r3, r5\n"                          \
    "bne.w 1b\n"                            \
    ".p2align 2\n"                          \
    "2: vmov q0[2], q0[0], r0, r4\n"        \
    "vld40.32 {q4, q5, q6, q7}, [r9]\n"     \
    "vmov q0[3], q0[1], r2, r6\n"           \
    "vld41.32 {q4, q5, q6, q7}, [r9]\n"     \
    "vmov q1[2], q1[0], r8, r12\n"          \
    "vld42.32 {q4, q5, q6, q7}, [r9]\n"     \
    "vmov q1[3], q1[1], r10, lr\n"          \
    "vld43.32 {q4, q5, q6, q7}, [r9]!\n"    \
    "vadd.i32 q0, q0, q4\n"                 \
    "vadd.i32 q1, q1, q4\n"                 \
    "vqdmulh.s32 q0, q0, q5\n"              \
    "vqdmulh.s32 q1, q1, q5\n"              \
    "vadd.i32 q0, q0, q6\n"                 \
    "vadd.i32 q1, q1, q6\n"                 \
    "vqshl.s32 q0, q0, q7\n"                \
    "vqshl.s32 q1, q1, q7\n"                \
    "vshr.s32 q0, q0, #24\n"                \
    "vshr.s32 q1, q1, #24\n"                \
    "ldrd r0, r2, [sp, #132]\n"             \
    "subs r11, #4\n"                        \
    "blt 4f\n"                              \
    store                                   \
    "strd r0, r2, [sp, #132]\n"             \
    "bne.w 0b\n"                            \
    "3: add sp, #32\n"                      \
    "vpop {d8-d15}\n"                       \
    "pop {r4-r11, pc}\n"                    \
    "4: add r11, #4\n"                      \
    "vldrw.u32 q2, [sp]\n"                  \
    "vctp.32 r11\n"                         \
    "vpstt\n"                               \
    "vstrbt.32 q0, [r0, q2]\n"              \
    "vstrbt.32 q1, [r2, q2]\n"              \
    "b 3b\n"

/// For channels that follow each other in the output.
[[gnu::naked, gnu::noinline]] inline void gemm_2x4_rows(const std::int8_t* /*x*/, const std::int8_t* /*w*/,
                                                        const channel* /*q*/, std::int32_t /*channels*/,
                                                        std::int8_t* /*out0*/, std::int8_t* /*out1*/,
                                                        std::int32_t /*channel_stride*/, std::int32_t /*chunks*/) {
    asm(HEADRACE_GEMM("vstrb.32 q0, [r0], #4\n"
                      "vstrb.32 q1, [r2], #4\n"));
}
/// For channels at any distance: stores scatter.
[[gnu::naked, gnu::noinline]] inline void gemm_2x4_planes(const std::int8_t* /*x*/, const std::int8_t* /*w*/,
                                                          const channel* /*q*/, std::int32_t /*channels*/,
                                                          std::int8_t* /*out0*/, std::int8_t* /*out1*/,
                                                          std::int32_t /*channel_stride*/, std::int32_t /*chunks*/) {
    asm(HEADRACE_GEMM("vldrw.u32 q2, [sp]\n"
                      "vstrb.32 q0, [r0, q2]\n"
                      "vstrb.32 q1, [r2, q2]\n"
                      "ldr r4, [sp, #140]\n"
                      "add r0, r0, r4, lsl #2\n"
                      "add r2, r2, r4, lsl #2\n"));
}
#undef HEADRACE_GEMM
#undef HEADRACE_CHUNK

/// Patches of Helium: [k / 16][pixel][k % 16].
struct mve_patches {
    using result = std::int8_t;
    using per_channel = channel;
    static constexpr std::int32_t pixels = 2, chunk = 16, bytes_of_chunk = 32;

    static void put(const std::int8_t* from, std::int32_t chunks, std::int8_t* patch, std::int32_t j) {
        for (patch += j * 16; chunks != 0; --chunks, from += 16, patch += 32) vstrbq_s8(patch, vldrbq_s8(from));
    }

    static void copy_rows(const std::int8_t* from, std::int8_t* to, std::int32_t rows, std::int32_t n,
                          std::int32_t step) {
        if (n <= 16) return copy_short_rows(from, to, rows, n, step, n);
        for (; rows != 0; --rows, from += step, to += n)
            for (std::int32_t i = 0; i < n; i += 16) {
                const mve_pred16_t lanes = vctp8q(static_cast<std::uint32_t>(n - i));
                vstrbq_p_s8(to + i, vldrbq_z_s8(from + i, lanes), lanes);
            }
    }

    /// Gathers two pixels from 16 planes at a time; the plan says that seven planes are less than 2^16 bytes.
    static void put_planes(const std::int8_t* from, std::int32_t plane, std::int32_t chunks, std::int8_t* patch) {
        const uint16x8_t places = vmulq_n_u16(vidupq_n_u16(0, 1), static_cast<std::uint16_t>(plane));
        for (; chunks != 0; --chunks, from += 16 * plane, patch += 32) {
            const std::int8_t* const second = from + 8 * plane;
            vstrbq_s16(patch, vldrbq_gather_offset_s16(from, places));
            vstrbq_s16(patch + 8, vldrbq_gather_offset_s16(second, places));
            vstrbq_s16(patch + 16, vldrbq_gather_offset_s16(from + 1, places));
            vstrbq_s16(patch + 24, vldrbq_gather_offset_s16(second + 1, places));
        }
    }

    static void multiply(const patch_plan& p, const std::int8_t* patch, const std::int8_t* w, const channel* q,
                         std::int8_t* const* out) {
        (p.out_channel == 1 ? gemm_2x4_rows : gemm_2x4_planes)(patch, w, q, p.out_channels, out[0], out[1],
                                                               p.out_channel, p.chunks);
    }
};

}  // namespace headrace::on_device::detail

#endif
