// SPDX-License-Identifier: MIT
// Defines the sizes of the buffers of cortex_m kernels, as the table of examples/docs/cortex_m.md states them.
// They share nothing with the sizes that Headrace computes, which they check.
#ifndef HEADRACE_TESTS_EXECUTORCH_CORTEX_M_SCRATCH_HPP
#define HEADRACE_TESTS_EXECUTORCH_CORTEX_M_SCRATCH_HPP

#include <algorithm>
#include <cstdint>

namespace cortex_m_scratch {

enum class core_kind { scalar, dsp, mve };

/// The sizes of a convolution; `channels` and `out` are of the images, `depth` is the weight's last axis.
struct convolution {
    std::int64_t height, width, channels, out, kernel_height, kernel_width, depth;
    std::int64_t stride_height, stride_width, padding_height, padding_width, dilation_height, dilation_width;

    [[nodiscard]] std::int64_t taps() const { return kernel_height * kernel_width * channels; }
    [[nodiscard]] bool has_groups() const { return depth != channels; }
    /// True if the kernels for a row of pixels compute it.
    [[nodiscard]] bool is_row() const {
        return height == 1 && kernel_height == 1 && dilation_width == 1 && !has_groups() &&
            stride_width * channels % 4 == 0;
    }
    [[nodiscard]] bool is_point() const {
        return kernel_height == 1 && kernel_width == 1 && padding_height == 0 && padding_width == 0 &&
            dilation_height == 1 && dilation_width == 1 && !has_groups();
    }
};

inline std::int64_t up(std::int64_t n, std::int64_t to) { return (n + to - 1) / to * to; }

/// A row on Helium, with a stride of 1: windows past both ends are copied.
inline std::int64_t of_row(const convolution& c) {
    if (c.width + 1 < c.kernel_width) return 4 * up(c.taps(), 16);
    return (c.kernel_width + c.padding_width) * c.channels;
}
inline std::int64_t of_conv2d(core_kind core, const convolution& c) {
    if (c.is_point()) return 0;
    if (core == core_kind::mve && c.is_row()) return of_row(c);
    return 4 * up(c.taps(), core == core_kind::mve ? 16 : 4);
}
inline std::int64_t of_depthwise(core_kind core, const convolution& c, std::int64_t multiplier) {
    const std::int64_t kernel = c.kernel_height * c.kernel_width;
    if (multiplier == 1 && c.dilation_height == 1 && c.dilation_width == 1) {
        const bool is_small =
            c.kernel_height == 3 && c.kernel_width == 3 && c.padding_height <= 1 && c.padding_width <= 1;
        if (core == core_kind::mve) return 496 * kernel;
        return core == core_kind::dsp && !is_small ? 2 * c.taps() : 0;
    }
    if (c.channels == 1 && c.out > 1 && core == core_kind::mve) {
        convolution dense = c;
        dense.depth = 1;
        return of_conv2d(core, dense) + kernel * c.out;
    }
    return 0;
}
inline bool reverses(const convolution& c) {
    return c.stride_height <= 2 && c.stride_width <= 2 && c.channels > 16;
}
inline std::int64_t of_transpose_conv2d(core_kind core, const convolution& c) {
    if (reverses(c)) return 4 * up(c.taps(), core == core_kind::mve ? 16 : 4);
    return 4 * c.out * ((c.width - 1) * c.stride_width + std::max(c.kernel_width, c.stride_height)) *
        std::max(c.kernel_height, c.stride_height);
}
inline std::int64_t of_reversed_weight(const convolution& c) { return reverses(c) ? c.taps() * c.out : 0; }

}  // namespace cortex_m_scratch

#endif
