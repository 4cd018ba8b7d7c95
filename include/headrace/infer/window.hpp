// SPDX-License-Identifier: MIT
// Defines the arithmetic of windows: the sizes that convolutions and poolings give, and "same" padding.
#ifndef HEADRACE_INFER_WINDOW_HPP
#define HEADRACE_INFER_WINDOW_HPP

#include <array>
#include <cstddef>
#include <cstdint>

#include <headrace/base/algorithms.hpp>
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

    /// How much of the axis the window covers.
    [[nodiscard]] constexpr std::int64_t extent() const {
        return saturating_add(saturating_mul(dilation, saturating_sub(kernel, 1)), 1);
    }
    [[nodiscard]] constexpr bool sound() const { return kernel > 0 && stride > 0 && dilation > 0; }
    /// No tensor is larger, and sums of a few such sizes and positions do not overflow.
    static constexpr std::int64_t max_extent = std::int64_t{1} << 58;
    [[nodiscard]] constexpr bool too_large() const {
        return any_of(std::array{extent(), stride, dilation, before, after},
                      [](std::int64_t size) { return size > max_extent; });
    }
};

/// Refuses a window that does not move, or that is larger than any tensor.
[[nodiscard]] result<void> check_window(const window& w);

/// PyTorch's padding="same" for stride 1: the odd element comes last.
[[nodiscard]] constexpr window same_padded(window w) {
    const std::int64_t total = w.extent() - 1;
    w.before = total / 2;
    w.after = total - w.before;
    return w;
}

/// Number of positions of a window on an axis of that size. With `ceil_mode`, a window may hang over the end
/// if it starts inside the axis or the padding before it.
[[nodiscard]] result<std::int64_t> window_positions(std::int64_t size, const window& w,
                                                    bool ceil_mode = false);

/// The size that a transposed convolution gives.
[[nodiscard]] result<std::int64_t> transposed_window_size(std::int64_t size, const window& w,
                                                          std::int64_t output_padding);

/// The parameters of a convolution or pooling as its op has them: one number may stand for all dimensions.
struct window_lists {
    sizes kernel;
    sizes stride;
    sizes padding;
    sizes dilation;
};

/// The windows of `count` dimensions. An empty stride means that of the kernel.
[[nodiscard]] result<std::array<window, 3>> windows_of(const window_lists& lists, std::size_t count);

}  // namespace headrace

#ifndef HEADRACE_COMPILED
#include <headrace/infer/window_definition.hpp>
#endif

#endif
