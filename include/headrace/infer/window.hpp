// SPDX-License-Identifier: MIT
// Defines the arithmetic of windows: the sizes that convolutions and poolings give, and "same" padding.
#ifndef HEADRACE_INFER_WINDOW_HPP
#define HEADRACE_INFER_WINDOW_HPP

#include <algorithm>

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
        return std::max({extent(), stride, dilation, before, after}) > max_extent;
    }
};

/// Refuses a window that does not move, or that is larger than any tensor.
[[nodiscard]] inline result<void> check_window(const window& w) {
    if (!w.sound()) return invalid("kernel, stride and dilation must be positive");
    if (w.too_large()) return invalid("kernel, stride, dilation or padding are too large");
    return boost::outcome_v2::success();
}

/// PyTorch's padding="same" for stride 1: the odd element comes last.
[[nodiscard]] constexpr window same_padded(window w) {
    const std::int64_t total = w.extent() - 1;
    w.before = total / 2;
    w.after = total - w.before;
    return w;
}

/// Number of positions of a window on an axis of that size. With `ceil_mode`, a window may hang over the end
/// if it starts inside the axis or the padding before it.
[[nodiscard]] inline result<std::int64_t> window_positions(std::int64_t size, const window& w,
                                                           bool ceil_mode = false) {
    BOOST_OUTCOME_TRY(check_window(w));
    const std::int64_t padded = saturating_add(size, saturating_add(w.before, w.after));
    const std::int64_t room = saturating_sub(padded, w.extent());
    if (room < 0 && (!ceil_mode || room <= -w.stride)) {
        return invalid("a window of " + number_text(w.extent()) + " does not fit in an axis of " +
                       number_text(size) + " padded to " + number_text(padded));
    }
    std::int64_t last = room < 0 ? 0 : room / w.stride;
    if (ceil_mode && room > 0 && room % w.stride != 0) ++last;
    if (ceil_mode && last > 0 && saturating_mul(last, w.stride) >= saturating_add(size, w.before)) --last;
    return last + 1;
}

/// The size that a transposed convolution gives.
[[nodiscard]] inline result<std::int64_t> transposed_window_size(std::int64_t size, const window& w,
                                                                 std::int64_t output_padding) {
    BOOST_OUTCOME_TRY(check_window(w));
    const std::int64_t padding = saturating_add(w.before, w.after);
    const std::int64_t grown = saturating_add(saturating_mul(saturating_sub(size, 1), w.stride), w.extent());
    const std::int64_t given = saturating_add(saturating_sub(grown, padding), output_padding);
    if (given <= 0) return invalid("the padding is larger than the result");
    return given;
}

/// The parameters of a convolution or pooling as its op has them: one number may stand for all dimensions.
struct window_lists {
    sizes kernel;
    sizes stride;
    sizes padding;
    sizes dilation;
};

/// The windows of `count` dimensions. An empty stride means that of the kernel.
[[nodiscard]] inline result<std::array<window, 3>> windows_of(const window_lists& lists, std::size_t count) {
    if (count > 3) return invalid("windows have at most 3 dimensions");
    BOOST_OUTCOME_TRY(kernel, list_for("kernel", lists.kernel, count));
    BOOST_OUTCOME_TRY(stride, list_for("stride", lists.stride.empty() ? lists.kernel : lists.stride, count));
    BOOST_OUTCOME_TRY(padding, list_for("padding", lists.padding, count));
    BOOST_OUTCOME_TRY(dilation, list_for("dilation", lists.dilation, count));
    std::array<window, 3> windows{};
    for (std::size_t i = 0; i != count; ++i) {
        if (padding[i] < 0) return invalid("padding must not be negative");
        windows[i] = {kernel[i], stride[i], dilation[i], padding[i], padding[i]};
    }
    return windows;
}

}  // namespace headrace

#endif
