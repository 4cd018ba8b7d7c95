// SPDX-License-Identifier: MIT
// Defines headrace::on_device::detail::mve_strips, which convolves windows of 3 x 3 by Helium from a copy in
// which 16 bytes that follow each other are four columns of four rows.
#ifndef HEADRACE_ON_DEVICE_MVE_STRIPS_HPP
#define HEADRACE_ON_DEVICE_MVE_STRIPS_HPP

#include <arm_mve.h>

#include <cstdint>

#include <headrace/on_device/planes.hpp>
#include <headrace/on_device/scale.hpp>

namespace headrace::on_device::detail {

/// Copies rows to strips [column][row % 4] that start at each second row: a row is in two of them, `pitch`
/// bytes apart. `to` is its place in the latter; `to_next` is from there to the next row's, and changes with
/// every row. What is not in the image is left as it is.
[[gnu::naked, gnu::noinline]] inline void put_strips(const std::int8_t* /*from*/, std::int8_t* /*to*/,
    std::int32_t /*rows*/, std::int32_t /*width*/, std::int32_t /*row*/, std::int32_t /*pitch*/,
    std::int32_t /*to_next*/) {
    asm(R"(
    push {r4-r8, lr}
    ldrd r4, r5, [sp, #24]
    ldr r12, [sp, #32]
    movs r6, #0
    vidup.u8 q1, r6, #4
0:  mov r6, r0
    mov r7, r1
    sub r8, r1, r5
    add r8, #2
    dlstp.8 lr, r3
1:  vldrb.8 q0, [r6], #16
    vstrb.8 q0, [r7, q1]
    vstrb.8 q0, [r8, q1]
    adds r7, #64
    add r8, #64
    letp lr, 1b
    add r0, r4
    add r1, r12
    rsb r12, r12, r5
    subs r2, #1
    bne 0b
    pop {r4-r8, pc}
    )");
}

/// The plan of a plane's strips. A block is four results: two columns of two rows, or four columns of a row
/// if the strides are 2.
struct strip_plan {
    std::int32_t offsets[4];  ///< of a block's results
    std::uint8_t tap[16];     ///< of each lane, for the block's first result; 255 for none
    std::int32_t blocks;      ///< whole ones in a strip
    /// Predicates of a strip's blocks, and of the last strip's, that say which results are stored; in the
    /// high half that of a last block, or 0 if there is none.
    std::uint32_t stored, stored_last;
    std::int32_t out_block;             ///< from one block's results to the next one's
    std::int32_t strip_step, out_step;  ///< from the end of a strip to the next one
    std::int32_t strips;
    std::int32_t
        first;  ///< strip that is read: the one before takes what a first row is written to beside it
};
constexpr strip_plan strips_of(const plane_plan& p) {
    strip_plan s{};
    const bool is_strided = p.stride_width == 2;
    const std::int32_t width = is_strided ? 4 : 2, rest = p.out_width % width;
    const std::int32_t all = (p.out_width + width - 1) / width;
    for (std::int32_t i = 0; i != 4; ++i)
        s.offsets[i] = is_strided ? i * p.out_pixel : i / 2 * p.out_row + i % 2 * p.out_pixel;
    for (std::int32_t i = 0; i != 16; ++i)
        s.tap[i] = i % 4 < 3 && i / 4 < 3 ? static_cast<std::uint8_t>(i % 4 * 3 + i / 4) : 255;
    std::uint32_t last = 0;
    for (std::int32_t i = 0; i != 4; ++i)
        if (i % width < rest) last |= 15u << (4 * i);
    s.blocks = p.out_width / width;
    s.stored = 0xffffu | last << 16;
    s.stored_last = !is_strided && p.out_height % 2 != 0 ? s.stored & 0x00ff00ffu : s.stored;
    s.first = p.pitch;
    s.out_block = width * p.out_pixel;
    s.strip_step = p.pitch - all * width * 4 * p.stride_width;
    s.strips = is_strided ? p.out_height : (p.out_height + 1) / 2;
    s.out_step = (is_strided ? 1 : 2) * p.out_row - all * s.out_block;
    return s;
}

// One channel. r0, r2, r4, r6 sums; r9, r7, r1, r5 bias and scale; r11 the strips, r3 the results and r8
// their distance; r12 the plan, r10 predicates; q3 offsets of results, q4..q7 taps. On the stack: 0 strips
// left; 108 the plan.
#define HEADRACE_STRIPS(taps, sums) \
    "push {r4-r11, lr}\n"           \
    "vpush {d8-d15}\n"              \
    "sub sp, #8\n"                  \
    "ldr r12, [sp, #108]\n"         \
    "mov r11, r0\n"                 \
    "vldrb.u8 q2, [r12, #16]\n"     \
    "movs r4, #255\n"               \
    "vpt.i8 ne, q2, r4\n"           \
    "vldrbt.u8 q4, [r1, q2]\n" taps \
    "vldrw.u32 q3, [r12]\n"         \
    "ldrd r9, r7, [r2]\n"           \
    "ldrd r1, r5, [r2, #8]\n"       \
    "ldr r8, [r12, #44]\n"          \
    "ldr r10, [r12, #56]\n"         \
    "0: ldr r4, [r12, #32]\n"       \
    "subs.w r10, r10, #1\n"         \
    "str.w r10, [sp]\n"             \
    "ite eq\n"                      \
    "ldreq.w r10, [r12, #40]\n"     \
    "ldrne.w r10, [r12, #36]\n"     \
    "vmsr p0, r10\n"                \
    "wls lr, r4, 2f\n"              \
    "1:\n" sums                     \
    "vmov q1[2], q1[0], r0, r4\n"   \
    "vmov q1[3], q1[1], r2, r6\n"   \
    "vadd.i32 q1, q1, r9\n"         \
    "vqdmulh.s32 q1, q1, r7\n"      \
    "vadd.i32 q1, q1, r1\n"         \
    "vqshl.s32 q1, r5\n"            \
    "vshr.s32 q1, q1, #24\n"        \
    "vpst\n"                        \
    "vstrbt.32 q1, [r3, q3]\n"      \
    "add r3, r8\n"                  \
    "le lr, 1b\n"                   \
    "2: lsrs.w r10, r10, #16\n"     \
    "beq 3f\n"                      \
    "vmsr p0, r10\n"                \
    "movs r4, #1\n"                 \
    "mov.w r10, #0\n"               \
    "dls lr, r4\n"                  \
    "b 1b\n"                        \
    "3: ldrd r4, r6, [r12, #48]\n"  \
    "add r11, r4\n"                 \
    "add r3, r6\n"                  \
    "ldr.w r10, [sp]\n"             \
    "cmp.w r10, #0\n"               \
    "bne.w 0b\n"                    \
    "add sp, #8\n"                  \
    "vpop {d8-d15}\n"               \
    "pop {r4-r11, pc}\n"

/// A load has four windows. Their taps are those of the first, moved by columns (32 bits) and rows (8 bits).
[[gnu::naked, gnu::noinline]] inline void convolve_strips_1(const std::int8_t* /*strips*/,
    const std::int8_t* /*w*/, const channel* /*q*/, std::int8_t* /*out*/, const strip_plan* /*plan*/) {
    asm(
        HEADRACE_STRIPS("movs r0, #0\n"
                        "vmov q5, q4\n"
                        "vshlc q5, r0, #32\n"
                        "vmov q6, q4\n"
                        "vshlc q6, r0, #8\n"
                        "vmov q7, q5\n"
                        "vshlc q7, r0, #8\n",
            "vldrb.8 q0, [r11], #8\n"
            "vmladav.s8 r0, q0, q4\n"
            "vmladav.s8 r2, q0, q5\n"
            "vmladav.s8 r4, q0, q6\n"
            "vmladav.s8 r6, q0, q7\n"));
}
/// A load has one window.
[[gnu::naked, gnu::noinline]] inline void convolve_strips_2(const std::int8_t* /*strips*/,
    const std::int8_t* /*w*/, const channel* /*q*/, std::int8_t* /*out*/, const strip_plan* /*plan*/) {
    asm(HEADRACE_STRIPS("",
        "vldrb.8 q0, [r11], #8\n"
        "vmladav.s8 r0, q0, q4\n"
        "vldrb.8 q1, [r11], #8\n"
        "vmladav.s8 r2, q1, q4\n"
        "vldrb.8 q0, [r11], #8\n"
        "vmladav.s8 r4, q0, q4\n"
        "vldrb.8 q1, [r11], #8\n"
        "vmladav.s8 r6, q1, q4\n"));
}
#undef HEADRACE_STRIPS

template <strip_plan N, bool is_strided>
struct mve_strips {
    using element = std::int8_t;
    using result = std::int8_t;
    using per_channel = channel;
    static void copy(const plane_plan& p, const std::int8_t* from, std::int8_t* to) {
        put_strips(from, to, p.rows, p.in_width, p.in_row, p.pitch, p.start % 2 == 0 ? 1 : p.pitch - 1);
    }
    static const strip_plan* prepare(const plane_plan&) {
        static constexpr strip_plan plan = N;
        return &plan;
    }
    static void convolve(const strip_plan* plan, const std::int8_t* copy, const std::int8_t* w,
        const channel& q, std::int8_t* out) {
        (is_strided ? convolve_strips_2 : convolve_strips_1)(copy + N.first, w, &q, out, plan);
    }
};

}  // namespace headrace::on_device::detail

#endif
