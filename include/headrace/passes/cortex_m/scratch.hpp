// SPDX-License-Identifier: MIT
// Defines the sizes of the buffers that CMSIS-NN's kernels need besides their operands and results.
#ifndef HEADRACE_PASSES_CORTEX_M_SCRATCH_HPP
#define HEADRACE_PASSES_CORTEX_M_SCRATCH_HPP

#include <algorithm>
#include <array>

#include <headrace/dialect/memory.hpp>
#include <headrace/infer/memory.hpp>
#include <headrace/infer/window.hpp>
#include <headrace/pass/pass.hpp>

namespace headrace::cortex_m {

// The sizes are those of CMSIS-NN's functions arm_…_get_buffer_size_{mve,dsp} and of the scalar ones, for
// each kind of core: examples/docs/cortex_m.md has them as a table. A runtime with checks takes no others.

/// The sizes of a convolution over two axes; `rows` and `columns` have its windows.
struct convolution_sizes {
    std::int64_t height, width, channels;  ///< of the image
    std::int64_t out;                      ///< output channels
    window rows, columns;
    bool has_groups = false;

    /// Returns how many elements a window covers, those of all groups.
    [[nodiscard]] std::int64_t taps() const { return rows.kernel * columns.kernel * channels; }
};

namespace detail {

[[nodiscard]] constexpr std::int64_t rounded_up(std::int64_t n, std::int64_t step) {
    return (n + step - 1) / step * step;
}
/// Two 16-bit copies of the elements of a window, or four 8-bit ones on Helium.
[[nodiscard]] inline std::int64_t columns_size(const target_spec& core, std::int64_t taps) {
    return 4 * rounded_up(taps, core.has(target_feature::mve) ? 16 : 4);
}

}  // namespace detail

/// Returns the bytes of a dense convolution's buffer. The image must not be a row with a window along it, for
/// which Helium has a kernel of its own.
[[nodiscard]] inline std::int64_t convolution_scratch(const target_spec& core, const convolution_sizes& c) {
    const auto is_point = [](const window& w) { return w.kernel == 1 && w.before == 0; };
    if (is_point(c.rows) && is_point(c.columns) && !c.has_groups) return 0;
    return detail::columns_size(core, c.taps());
}

/// Returns the bytes of a depthwise convolution's buffer.
[[nodiscard]] inline std::int64_t depthwise_scratch(
    const target_spec& core, const convolution_sizes& c, std::int64_t multiplier) {
    const std::int64_t kernel = c.rows.kernel * c.columns.kernel;
    if (multiplier != 1 && c.channels == 1 && core.has(target_feature::mve))
        return convolution_scratch(core, c) + kernel * c.out;
    if (multiplier != 1 || c.rows.dilation != 1 || c.columns.dilation != 1) return 0;
    if (core.has(target_feature::mve)) return 496 * kernel;
    const bool has_own_kernel =
        c.rows.kernel == 3 && c.columns.kernel == 3 && c.rows.before <= 1 && c.columns.before <= 1;
    return core.has(target_feature::dsp) && !has_own_kernel ? 2 * c.taps() : 0;
}

/// The bytes of a transposed convolution's two buffers.
struct transposed_scratch {
    std::int64_t scratch, output;
};
[[nodiscard]] inline transposed_scratch transposed_convolution_scratch(
    const target_spec& core, const convolution_sizes& c) {
    if (c.rows.stride <= 2 && c.columns.stride <= 2 && c.channels > 16)
        return {detail::columns_size(core, c.taps()), c.taps() * c.out};
    const std::int64_t width = (c.width - 1) * c.columns.stride + std::max(c.columns.kernel, c.rows.stride);
    return {4 * c.out * width * std::max(c.rows.kernel, c.rows.stride), 0};
}

/// Makes a buffer of that many bytes.
inline value make_scratch(emit<ops<memory::alloc>> e, std::int64_t bytes) {
    return e.make<memory::alloc>({.size = {bytes}, .dtype = dtype::uint8});
}

}  // namespace headrace::cortex_m

#endif
