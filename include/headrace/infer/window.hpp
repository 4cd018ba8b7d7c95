// SPDX-License-Identifier: MIT
// Defines the arithmetic of windows: the result sizes of convolutions and poolings, and "same" padding.
#ifndef HEADRACE_INFER_WINDOW_HPP
#define HEADRACE_INFER_WINDOW_HPP

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include <headrace/base/text.hpp>
#include <headrace/infer/shape_builder.hpp>

namespace headrace {

/// A window that moves along one axis.
struct window {
    std::int64_t kernel = 1;
    std::int64_t stride = 1;
    std::int64_t dilation = 1;
    std::int64_t before = 0;  ///< padding
    std::int64_t after = 0;

    /// Returns how many elements of the axis the window spans.
    [[nodiscard]] constexpr std::int64_t extent() const {
        return saturating_add(saturating_mul(dilation, saturating_sub(kernel, 1)), 1);
    }
    [[nodiscard]] constexpr bool sound() const { return kernel > 0 && stride > 0 && dilation > 0; }
    /// No tensor is larger, and sums of a few such sizes and positions do not overflow.
    static constexpr std::int64_t max_extent = std::int64_t{1} << 58;
    [[nodiscard]] constexpr bool too_large() const {
        return std::max({extent(), stride, dilation, before, after}) > max_extent;
    }
};

/// Refuses a window that does not move, or that is larger than any tensor.
[[nodiscard]] result<void> check_window(const window& w);

/// Returns PyTorch's padding="same" for stride 1; an odd element is added at the end.
[[nodiscard]] constexpr window same_padded(window w) {
    const std::int64_t total = w.extent() - 1;
    w.before = total / 2;
    w.after = total - w.before;
    return w;
}

/// Returns the number of positions of a window on an axis of that size. With `ceil_mode`, a window may extend
/// past the end if it starts inside the axis or the padding before it.
[[nodiscard]] result<std::int64_t> window_positions(
    std::int64_t size, const window& w, bool ceil_mode = false);

/// Returns the result size of a transposed convolution.
[[nodiscard]] result<std::int64_t> transposed_window_size(
    std::int64_t size, const window& w, std::int64_t output_padding);

/// The parameters of a convolution or pooling as in its op: a single number may be given for all dimensions.
struct window_lists {
    sizes kernel;
    sizes stride;
    sizes padding;
    sizes dilation;
};

/// Returns the windows of `count` dimensions. An empty stride means the kernel's size.
[[nodiscard]] result<std::array<window, 3>> windows_of(const window_lists& lists, std::size_t count);

}  // namespace headrace

#ifndef HEADRACE_COMPILED
#include <headrace/infer/window_definition.hpp>
#endif

#endif
