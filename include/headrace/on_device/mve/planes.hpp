// SPDX-License-Identifier: MIT
// Defines headrace::on_device::detail::mve_narrow_planes and mve_wide_planes, which convolve a plane by
// Helium.
#ifndef HEADRACE_ON_DEVICE_MVE_PLANES_HPP
#define HEADRACE_ON_DEVICE_MVE_PLANES_HPP

#include <arm_mve.h>

#include <cstdint>

#include <headrace/on_device/mve/copy.hpp>
#include <headrace/on_device/planes.hpp>

namespace headrace::on_device::detail {

HEADRACE_INLINE void copy_rows(const plane_plan& p, const std::int8_t* from, std::int8_t* to) {
    if (p.in_pixel == 1 && p.in_width <= 16) {
        copy_short_rows(from, to, p.rows, p.in_width, p.in_row, p.pitch);
        return;
    }
    const std::int32_t width = p.in_width, pixel = p.in_pixel, row = p.in_row, pitch = p.pitch;
    for (std::int32_t y = p.rows; y != 0; --y, from += row, to += pitch)
        if (pixel == 1)
            for (std::int32_t x = 0; x < width; x += 16) {
                const mve_pred16_t lanes = vctp8q(static_cast<std::uint32_t>(width - x));
                vstrbq_p_s8(to + x, vldrbq_z_s8(from + x, lanes), lanes);
            }
        else
            for (std::int32_t x = 0; x != width; ++x) to[x] = from[x * pixel];
}

/// The plan of narrow planes: a window is a load of 16 bytes from the copy, so its taps have the distances of
/// the copy.
struct narrow_plan {
    std::uint8_t tap[16];     ///< of each lane; 255 for none
    std::int32_t offsets[4];  ///< of four rows' results
    std::int32_t row;         ///< from one row of windows to the next
    std::int32_t width, out_pixel;
    std::int32_t groups;                    ///< of four rows, after the first
    std::int32_t step, out_step;            ///< from the end of a group to the next one
    std::int32_t last_step, last_out_step;  ///< to the last one, which may overlap the one before
};
constexpr narrow_plan narrow(const plane_plan& p) {
    narrow_plan n{};
    for (auto& tap : n.tap) tap = 255;
    for (std::int32_t y = 0; y != p.kernel_height; ++y)
        for (std::int32_t x = 0; x != p.kernel_width; ++x)
            n.tap[y * p.pitch + x] = static_cast<std::uint8_t>(y * p.kernel_width + x);
    for (std::int32_t i = 0; i != 4; ++i) n.offsets[i] = i * p.out_row;
    const std::int32_t missing = (4 - p.out_height % 4) % 4;
    n.row = p.stride_height * p.pitch, n.width = p.out_width, n.out_pixel = p.out_pixel;
    n.groups = (p.out_height + 3) / 4 - 1;
    n.step = 4 * n.row - p.out_width * p.stride_width, n.out_step = 4 * p.out_row - p.out_width * p.out_pixel;
    n.last_step = n.step - missing * n.row, n.last_out_step = n.out_step - missing * p.out_row;
    return n;
}

// One channel. Four rows are convolved side by side: a load and a VMLADAV make a sum. r0, r2, r4, r6 sums;
// r8..r11 the rows; r3 the results and r5 their distance; r7, r1, r12 the scale; q0 taps, q4 offsets of
// results, q5 bias. On the stack: 0 steps to the next four rows and to their results, 8 width, 12 groups
// left; 84 the plan. The step to the last group is smaller if it overlaps the one before.
#define HEADRACE_NARROW(stride)     \
    "push {r4-r11, lr}\n"           \
    "vpush {d8-d11}\n"              \
    "sub sp, #16\n"                 \
    "ldr r12, [sp, #84]\n"          \
    "vldrb.u8 q2, [r12]\n"          \
    "movs r4, #255\n"               \
    "vpt.i8 ne, q2, r4\n"           \
    "vldrbt.u8 q0, [r1, q2]\n"      \
    "vldrw.u32 q4, [r12, #16]\n"    \
    "ldrd r4, r7, [r2]\n"           \
    "vdup.32 q5, r4\n"              \
    "mov r8, r0\n"                  \
    "ldrd r4, r6, [r12, #32]\n"     \
    "add r9, r8, r4\n"              \
    "add r10, r9, r4\n"             \
    "add r11, r10, r4\n"            \
    "str r6, [sp, #8]\n"            \
    "ldrd r5, r6, [r12, #40]\n"     \
    "str r6, [sp, #12]\n"           \
    "ldrd r4, r6, [r12, #48]\n"     \
    "strd r4, r6, [sp]\n"           \
    "ldrd r1, r12, [r2, #8]\n"      \
    "b 2f\n"                        \
    "0: ldrd r0, r2, [sp]\n"        \
    "add r8, r0\n"                  \
    "add r9, r0\n"                  \
    "add r10, r0\n"                 \
    "add r11, r0\n"                 \
    "add r3, r2\n"                  \
    "2: ldr r6, [sp, #8]\n"         \
    "dls lr, r6\n"                  \
    "1: vldrb.8 q1, [r8], #" stride \
    "\n"                            \
    "vmladav.s8 r0, q0, q1\n"       \
    "vldrb.8 q2, [r9], #" stride    \
    "\n"                            \
    "vmladav.s8 r2, q0, q2\n"       \
    "vldrb.8 q1, [r10], #" stride   \
    "\n"                            \
    "vmladav.s8 r4, q0, q1\n"       \
    "vldrb.8 q2, [r11], #" stride   \
    "\n"                            \
    "vmladav.s8 r6, q0, q2\n"       \
    "vmov q3[2], q3[0], r0, r4\n"   \
    "vmov q3[3], q3[1], r2, r6\n"   \
    "vadd.i32 q3, q3, q5\n"         \
    "vqdmulh.s32 q3, q3, r7\n"      \
    "vadd.i32 q3, q3, r1\n"         \
    "vqshl.s32 q3, r12\n"           \
    "vshr.s32 q3, q3, #24\n"        \
    "vstrb.32 q3, [r3, q4]\n"       \
    "add r3, r5\n"                  \
    "le lr, 1b\n"                   \
    "ldr r2, [sp, #12]\n"           \
    "subs r2, #1\n"                 \
    "str r2, [sp, #12]\n"           \
    "bgt 0b\n"                      \
    "bmi 3f\n"                      \
    "ldr r2, [sp, #84]\n"           \
    "ldrd r0, r2, [r2, #56]\n"      \
    "strd r0, r2, [sp]\n"           \
    "b 0b\n"                        \
    "3: add sp, #16\n"              \
    "vpop {d8-d11}\n"               \
    "pop {r4-r11, pc}\n"

[[gnu::naked, gnu::noinline]] inline void convolve_narrow_1(const std::int8_t* /*plane*/,
    const std::int8_t* /*w*/, const channel* /*q*/, std::int8_t* /*out*/, const narrow_plan* /*plan*/) {
    asm(HEADRACE_NARROW("1"));
}
[[gnu::naked, gnu::noinline]] inline void convolve_narrow_2(const std::int8_t* /*plane*/,
    const std::int8_t* /*w*/, const channel* /*q*/, std::int8_t* /*out*/, const narrow_plan* /*plan*/) {
    asm(HEADRACE_NARROW("2"));
}
#undef HEADRACE_NARROW

template <narrow_plan N, bool is_strided>
struct mve_narrow_planes {
    using element = std::int8_t;
    using result = std::int8_t;
    using per_channel = channel;
    static void copy(const plane_plan& p, const std::int8_t* from, std::int8_t* to) {
        copy_rows(p, from, to);
    }
    static const narrow_plan* prepare(const plane_plan&) {
        static constexpr narrow_plan plan = N;
        return &plan;
    }
    static void convolve(const narrow_plan* plan, const std::int8_t* plane, const std::int8_t* w,
        const channel& q, std::int8_t* out) {
        (is_strided ? convolve_narrow_2 : convolve_narrow_1)(plane, w, &q, out, plan);
    }
};

// One row of windows of 3 x 3, four results at a time, the last ones under a predicate. r0, r1, r2 the rows;
// r3 the results; r4..r12 taps; q5..q7 the scale; the bias is on the stack. `first`, `second` and `third` are
// the addresses of a row's taps, of which the last one is stepped over.
#define HEADRACE_WIDE_ROW(row, t0, t1, t2, second, third, first) \
    "vldrb.s32 q1, [" row second                                 \
    "\n"                                                         \
    "vmla.s32 q0, q1, " t1                                       \
    "\n"                                                         \
    "vldrb.s32 q1, [" row third                                  \
    "\n"                                                         \
    "vmla.s32 q0, q1, " t2                                       \
    "\n"                                                         \
    "vldrb.s32 q1, [" row first                                  \
    "\n"                                                         \
    "vmla.s32 q0, q1, " t0 "\n"
#define HEADRACE_WIDE(offsets, second, third, first, step)                                    \
    "push {r4-r11, lr}\n"                                                                     \
    "vpush {d8-d15}\n"                                                                        \
    "sub sp, #16\n"                                                                           \
    "ldrd r4, r5, [r2]\n"                                                                     \
    "vdup.32 q0, r4\n"                                                                        \
    "vstrw.32 q0, [sp]\n"                                                                     \
    "vdup.32 q5, r5\n"                                                                        \
    "ldrd r4, r5, [r2, #8]\n"                                                                 \
    "vdup.32 q6, r4\n"                                                                        \
    "vdup.32 q7, r5\n" offsets                                                                \
    "ldrd r2, lr, [sp, #116]\n"                                                               \
    "ldrsb r4, [r1]\n"                                                                        \
    "ldrsb r5, [r1, #1]\n"                                                                    \
    "ldrsb r6, [r1, #2]\n"                                                                    \
    "ldrsb r7, [r1, #3]\n"                                                                    \
    "ldrsb r8, [r1, #4]\n"                                                                    \
    "ldrsb r9, [r1, #5]\n"                                                                    \
    "ldrsb r10, [r1, #6]\n"                                                                   \
    "ldrsb r11, [r1, #7]\n"                                                                   \
    "ldrsb r12, [r1, #8]\n"                                                                   \
    "add r1, r0, r2\n"                                                                        \
    "add r2, r1\n"                                                                            \
    "dlstp.32 lr, lr\n"                                                                       \
    "1: vldrw.u32 q0, [sp]\n" HEADRACE_WIDE_ROW("r0", "r4", "r5", "r6", second, third, first) \
        HEADRACE_WIDE_ROW("r1", "r7", "r8", "r9", second, third, first)                       \
            HEADRACE_WIDE_ROW("r2", "r10", "r11", "r12", second, third, first) step           \
        "vqdmulh.s32 q0, q0, q5\n"                                                            \
        "vadd.i32 q0, q0, q6\n"                                                               \
        "vqshl.s32 q0, q0, q7\n"                                                              \
        "vshr.s32 q0, q0, #24\n"                                                              \
        "vstrb.32 q0, [r3], #4\n"                                                             \
        "letp lr, 1b\n"                                                                       \
        "add sp, #16\n"                                                                       \
        "vpop {d8-d15}\n"                                                                     \
        "pop {r4-r11, pc}\n"

[[gnu::naked, gnu::noinline]] inline void convolve_row_1(const std::int8_t* /*row*/, const std::int8_t* /*w*/,
    const channel* /*q*/, std::int8_t* /*out*/, std::int32_t /*pitch*/, std::int32_t /*width*/) {
    asm(HEADRACE_WIDE("", ", #1]", ", #2]", "], #4", ""));
}
/// Every second window: loads gather.
[[gnu::naked, gnu::noinline]] inline void convolve_row_2(const std::int8_t* /*row*/, const std::int8_t* /*w*/,
    const channel* /*q*/, std::int8_t* /*out*/, std::int32_t /*pitch*/, std::int32_t /*width*/) {
    asm(
        HEADRACE_WIDE("movs r4, #0\n"
                      "vidup.u32 q2, r4, #2\n"
                      "movs r4, #1\n"
                      "vadd.i32 q3, q2, r4\n"
                      "vadd.i32 q4, q3, r4\n",
            ", q3]", ", q4]", ", q2]",
            "adds r0, #8\n"
            "adds r1, #8\n"
            "adds r2, #8\n"));
}
#undef HEADRACE_WIDE
#undef HEADRACE_WIDE_ROW

struct mve_wide_planes {
    using element = std::int8_t;
    using result = std::int8_t;
    using per_channel = channel;
    static void copy(const plane_plan& p, const std::int8_t* from, std::int8_t* to) {
        copy_rows(p, from, to);
    }
    static const plane_plan* prepare(const plane_plan& p) { return &p; }
    static void convolve(const plane_plan* plan, const std::int8_t* plane, const std::int8_t* w,
        const channel& q, std::int8_t* out) {
        const plane_plan& p = *plan;
        const auto row = p.stride_width == 2 ? convolve_row_2 : convolve_row_1;
        const std::int32_t step = p.stride_height * p.pitch;
        for (std::int32_t y = p.out_height; y != 0; --y, plane += step, out += p.out_row)
            row(plane, w, &q, out, p.pitch, p.out_width);
    }
};

}  // namespace headrace::on_device::detail

#endif
