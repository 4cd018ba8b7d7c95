// SPDX-License-Identifier: MIT
// Defines headrace::on_device::detail::mve_patches, which multiplies two pixels by four channels at a time by
// Helium's VMLADAV.
#ifndef HEADRACE_ON_DEVICE_MVE_GEMM_HPP
#define HEADRACE_ON_DEVICE_MVE_GEMM_HPP

#include <arm_mve.h>

#include <cstdint>

#include <headrace/on_device/mve/copy.hpp>
#include <headrace/on_device/patches.hpp>
#include <headrace/on_device/scale.hpp>

namespace headrace::on_device::detail {

// Products of pairs of pixels x[pair][chunk][2][16] and all channels, four channels after four. A chunk of 16
// k takes six loads and eight VMLADAV, whose sums are in all eight even registers; loads and products
// alternate, because a core does both at once. The odd registers: r1 weights and r5 the end of those in the
// loop, r3 x, r7 where the first chunk is left to, r9 results of the pairs, r11 pairs left. The first chunk
// starts the sums; after it are a loop of four and the last four. More than five chunks enter the loop, and
// others the last four, where only the rest of the chunks follows. q4..q7 are the four channels' scales.
#define HEADRACE_CHUNK(multiply)                                 \
    "vldrb.8 q0, [r3], #16\n"                                    \
    "vldrb.8 q2, [r1], #16\n" multiply                           \
    " r0, q0, q2\n"                                              \
    "vldrb.8 q1, [r3], #16\n" multiply                           \
    " r8, q1, q2\n"                                              \
    "vldrb.8 q3, [r1], #16\n" multiply                           \
    " r2, q0, q3\n"                                              \
    "vldrb.8 q2, [r1], #16\n" multiply " r10, q1, q3\n" multiply \
    " r4, q0, q2\n"                                              \
    "vldrb.8 q3, [r1], #16\n" multiply " r12, q1, q2\n" multiply " r6, q0, q3\n" multiply " lr, q1, q3\n"
// On the stack: 0 offsets of four channels' results, 16 x, 20 weights, 24 scales, 28 channels left; behind
// the saved registers 132 results of each pixel, 136 channel stride, 140 chunks (later bytes of weights in
// the loop), 144 pairs. The predicate keeps a last block of fewer channels from storing more.
#define HEADRACE_GEMM(...) HEADRACE_GEMM_OF(__VA_ARGS__)
#define HEADRACE_GEMM_OF(prepare, address, store, advance) \
    "push {r4-r11, lr}\n"                           \
    "vpush {d8-d15}\n"                              \
    "sub sp, #32\n"                                 \
    "add r4, sp, #16\n"                             \
    "stm r4, {r0-r3}\n"                             \
    prepare                                         \
    "ldr r6, [sp, #140]\n"                          \
    "subs r5, r6, #5\n"                             \
    "rsb r4, r5, #0\n"                              \
    "itte gt\n"                                     \
    "andgt r4, r4, #3\n"                            \
    "adrgt.w r7, 1f\n"                              \
    "adrle.w r7, 2f\n"                              \
    "movs r5, #56\n"                                \
    "mla r7, r4, r5, r7\n"                          \
    "orr r7, r7, #1\n"                              \
    "lsls r6, r6, #6\n"                             \
    "subs r6, #256\n"                               \
    "str r6, [sp, #140]\n"                          \
    "0: ldrd r1, r0, [sp, #20]\n"                   \
    "ldr r2, [sp, #28]\n"                           \
    "ldr r5, [sp, #140]\n"                          \
    "vld40.32 {q4, q5, q6, q7}, [r0]\n"             \
    "add r5, r1\n"                                  \
    "vld41.32 {q4, q5, q6, q7}, [r0]\n"             \
    "vctp.32 r2\n"                                  \
    "vld42.32 {q4, q5, q6, q7}, [r0]\n"             \
    "ldr r3, [sp, #16]\n"                           \
    "vld43.32 {q4, q5, q6, q7}, [r0]!\n"            \
    "ldr r9, [sp, #132]\n"                          \
    "str r0, [sp, #24]\n"                           \
    "ldr r11, [sp, #144]\n"                         \
    "3: ldr r1, [sp, #20]\n"                        \
    HEADRACE_CHUNK("vmladav.s8")                    \
    "bx r7\n"                                       \
    ".p2align 2\n"                                  \
    "1:\n"                                          \
    ".rept 4\n"                                     \
    HEADRACE_CHUNK("vmladava.s8")                   \
    ".endr\n"                                       \
    "cmp.w r1, r5\n"                                \
    "bne.w 1b\n"                                    \
    "2:\n"                                          \
    ".rept 4\n"                                     \
    HEADRACE_CHUNK("vmladava.s8")                   \
    ".endr\n"                                       \
    "vmov q0[2], q0[0], r0, r4\n"                   \
    "vmov q0[3], q0[1], r2, r6\n"                   \
    "vadd.i32 q0, q0, q4\n"                         \
    "vmov q1[2], q1[0], r8, r12\n"                  \
    "vqdmulh.s32 q0, q0, q5\n"                      \
    "vmov q1[3], q1[1], r10, lr\n"                  \
    "vadd.i32 q0, q0, q6\n"                         \
    "vadd.i32 q1, q1, q4\n"                         \
    "vqshl.s32 q0, q0, q7\n"                        \
    "vqdmulh.s32 q1, q1, q5\n"                      \
    "vshr.s32 q0, q0, #24\n"                        \
    "vadd.i32 q1, q1, q6\n"                         \
    address                                         \
    "vqshl.s32 q1, q1, q7\n"                        \
    "vshr.s32 q1, q1, #24\n"                        \
    store                                           \
    "subs r11, #1\n"                                \
    "bne.w 3b\n"                                    \
    "str r1, [sp, #20]\n"                           \
    advance                                         \
    "ldr r2, [sp, #28]\n"                           \
    "subs r2, #4\n"                                 \
    "str r2, [sp, #28]\n"                           \
    "bgt.w 0b\n"                                    \
    "add sp, #32\n"                                 \
    "vpop {d8-d15}\n"                               \
    "pop {r4-r11, pc}\n"

// Channels that follow each other in the output: the table of results is stepped over them.
#define HEADRACE_ROWS              \
    "", "ldrd r0, r2, [r9]\n",     \
        "vpstt\n"                  \
        "vstrbt.32 q0, [r0], #4\n" \
        "vstrbt.32 q1, [r2], #4\n" \
        "strd r0, r2, [r9], #8\n", \
        ""
// Channels at any distance: stores scatter.
#define HEADRACE_PLANES             \
    "ldr r4, [sp, #136]\n"          \
    "movs r5, #0\n"                 \
    "lsls r7, r4, #1\n"             \
    "strd r5, r4, [sp]\n"           \
    "add r4, r7\n"                  \
    "strd r7, r4, [sp, #8]\n",      \
        "ldrd r0, r2, [r9], #8\n"   \
        "vldrw.u32 q2, [sp]\n",     \
        "vpstt\n"                   \
        "vstrbt.32 q0, [r0, q2]\n"  \
        "vstrbt.32 q1, [r2, q2]\n", \
        "vldrw.u32 q2, [sp]\n"      \
        "ldr r4, [sp, #136]\n"      \
        "lsls r4, r4, #2\n"         \
        "vadd.i32 q2, q2, r4\n"     \
        "vstrw.32 q2, [sp]\n"

[[gnu::naked, gnu::noinline]] inline void gemm_to_rows(const std::int8_t* /*x*/, const std::int8_t* /*w*/,
    const channel* /*q*/, std::int32_t /*channels*/, std::int8_t** /*out*/, std::int32_t /*channel_stride*/,
    std::int32_t /*chunks*/, std::int32_t /*pairs*/) {
    asm(HEADRACE_GEMM(HEADRACE_ROWS));
}
[[gnu::naked, gnu::noinline]] inline void gemm_to_planes(const std::int8_t* /*x*/, const std::int8_t* /*w*/,
    const channel* /*q*/, std::int32_t /*channels*/, std::int8_t** /*out*/, std::int32_t /*channel_stride*/,
    std::int32_t /*chunks*/, std::int32_t /*pairs*/) {
    asm(HEADRACE_GEMM(HEADRACE_PLANES));
}
#undef HEADRACE_PLANES
#undef HEADRACE_ROWS
#undef HEADRACE_GEMM
#undef HEADRACE_GEMM_OF
#undef HEADRACE_CHUNK

/// Copies `rows` runs of chunks, `step` bytes apart, to every other chunk; returns the place after the last.
[[gnu::naked, gnu::noinline]] inline std::int8_t* put_rows_of_16(const std::int8_t* /*from*/,
    std::int8_t* /*to*/, std::int32_t /*rows*/, std::int32_t /*chunks*/, std::int32_t /*step*/) {
    asm(R"(
    push {r4, lr}
    ldr r4, [sp, #8]
    sub r4, r4, r3, lsl #4
0:  dls lr, r3
1:  vldrb.8 q0, [r0], #16
    vstrb.8 q0, [r1], #32
    le lr, 1b
    add r0, r4
    subs r2, #1
    bne 0b
    mov r0, r1
    pop {r4, pc}
    )");
}

/// Puts rows of at most 16 bytes together in `window`, and its chunks to every other one from `to` on.
[[gnu::naked, gnu::noinline]] inline void put_window_of_16(const std::int8_t* /*from*/,
    std::int8_t* /*window*/, std::int8_t* /*to*/, std::int32_t /*rows*/, std::int32_t /*width*/,
    std::int32_t /*step*/, std::int32_t /*chunks*/) {
    asm(R"(
    push {r4-r6, lr}
    ldrd r4, r5, [sp, #16]
    ldr r6, [sp, #24]
    mov r12, r1
    vctp.8 r4
    dls lr, r3
0:  vpstt
    vldrbt.8 q0, [r0]
    vstrbt.8 q0, [r12]
    add r0, r5
    add r12, r4
    le lr, 0b
    dls lr, r6
1:  vldrb.8 q0, [r1], #16
    vstrb.8 q0, [r2], #32
    le lr, 1b
    pop {r4-r6, pc}
    )");
}

/// Patches of Helium: [pixel / 2][k / 16][pixel % 2][k % 16].
struct mve_patches {
    using result = std::int8_t;
    using per_channel = channel;
    static constexpr std::int32_t most_pixels = 16, group = 2, chunk = 16, bytes_of_chunk = 32;
    static constexpr bool reads_no_more = false;  ///< than the window, for short rows

    /// True if so many pixels are multiplied.
    static constexpr bool is_multiplied(std::int32_t pixels) { return pixels % group == 0; }
    /// From the place of pixel j to the next one's.
    static std::int32_t step(std::int32_t chunks, std::int32_t j) {
        return j % 2 == 0 ? 16 : chunks * 32 - 16;
    }
    static std::int8_t* put_rows(
        const std::int8_t* from, std::int8_t* to, std::int32_t rows, std::int32_t chunks, std::int32_t step) {
        return put_rows_of_16(from, to, rows, chunks, step);
    }

    static void copy_rows(
        const std::int8_t* from, std::int8_t* to, std::int32_t rows, std::int32_t n, std::int32_t step) {
        if (n <= 16) return copy_short_rows(from, to, rows, n, step, n);
        for (; rows != 0; --rows, from += step, to += n)
            for (std::int32_t i = 0; i < n; i += 16) {
                const mve_pred16_t lanes = vctp8q(static_cast<std::uint32_t>(n - i));
                vstrbq_p_s8(to + i, vldrbq_z_s8(from + i, lanes), lanes);
            }
    }

    static constexpr std::int32_t most_of_row = 16;  ///< for a window whose rows are put at once
    static void put_window(const std::int8_t* from, std::int8_t* window, std::int8_t* to, std::int32_t rows,
        std::int32_t width, std::int32_t step, std::int32_t chunks) {
        put_window_of_16(from, window, to, rows, width, step, chunks);
    }

    /// Gathers pixels from eight planes at a time; the plan says that seven planes are less than 2^16 bytes.
    /// A half of a chunk without planes may hold anything: its weights are 0.
    HEADRACE_SHARED static void put_planes(
        const patch_plan& p, const std::int8_t* from, std::int8_t* patch, std::int32_t pixels) {
        const std::int32_t plane = p.in_channel, whole = p.in_channels / 16;
        const bool has_half = whole != p.chunks;
        const uint16x8_t places = vmulq_n_u16(vidupq_n_u16(0, 1), static_cast<std::uint16_t>(plane));
        const uint16x8_t next = vaddq_n_u16(places, 1);
        for (; pixels != 0; pixels -= 2, from += 2) {
            const std::int8_t *first = from, *second = from + 8 * plane;
            for (std::int32_t chunks = whole; chunks != 0; --chunks, patch += 32) {
                vstrbq_s16(patch, vldrbq_gather_offset_s16(first, places));
                vstrbq_s16(patch + 8, vldrbq_gather_offset_s16(second, places));
                vstrbq_s16(patch + 16, vldrbq_gather_offset_s16(first, next));
                vstrbq_s16(patch + 24, vldrbq_gather_offset_s16(second, next));
                first += 16 * plane, second += 16 * plane;
            }
            if (!has_half) continue;
            vstrbq_s16(patch, vldrbq_gather_offset_s16(first, places));
            vstrbq_s16(patch + 16, vldrbq_gather_offset_s16(first, next));
            patch += 32;
        }
    }

    /// Gathers rows of 1, 2, 4 or 8 bytes, 16 bytes at a time: rows after the window may be read.
    static constexpr bool takes_short_rows(std::int32_t n, std::int32_t step) {
        return (n == 1 || n == 2 || n == 4 || n == 8) && step >= 0 && (16 / n - 1) * step + n <= 256;
    }
    static void put_short_rows(
        const std::int8_t* from, std::int32_t chunks, std::int8_t* to, std::int32_t n, std::int32_t step) {
        const uint8x16_t lane = vidupq_n_u8(0, 1);
        const uint8x16_t column = vandq_u8(lane, vdupq_n_u8(static_cast<std::uint8_t>(n - 1)));
        const uint8x16_t row = vshlq_r_u8(vsubq_u8(lane, column), -__builtin_ctz(static_cast<unsigned>(n)));
        const uint8x16_t places = vmlaq_n_u8(column, row, static_cast<std::uint8_t>(step));
        for (; chunks != 0; --chunks, from += 16 / n * step, to += 32)
            vstrbq_s8(to, vldrbq_gather_offset_s8(from, places));
    }

    /// The table of results is not what it was afterwards.
    static void multiply(const patch_plan& p, const std::int8_t* patch, const std::int8_t* w,
        const channel* q, std::int8_t** out, std::int32_t pixels) {
        (p.out_channel == 1 ? gemm_to_rows : gemm_to_planes)(
            patch, w, q, p.out_channels, out, p.out_channel, p.chunks, pixels / 2);
    }
};

}  // namespace headrace::on_device::detail

#endif
