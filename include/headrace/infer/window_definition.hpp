// SPDX-License-Identifier: MIT
// Defines the functions of infer/window.hpp.
#ifndef HEADRACE_INFER_WINDOW_DEFINITION_HPP
#define HEADRACE_INFER_WINDOW_DEFINITION_HPP

#include <headrace/base/compiled.hpp>
#include <headrace/base/text.hpp>
#include <headrace/infer/shape_builder.hpp>

namespace headrace {

HEADRACE_INLINE result<void> check_window(const window& w) {
    if (!w.sound()) return invalid("kernel, stride and dilation must be positive");
    if (w.too_large()) return invalid("kernel, stride, dilation or padding are too large");
    return {};
}

HEADRACE_INLINE result<std::int64_t> window_positions(std::int64_t size, const window& w, bool ceil_mode) {
    HEADRACE_TRY(check_window(w));
    const std::int64_t padded = saturating_add(size, saturating_add(w.before, w.after));
    const std::int64_t room = saturating_sub(padded, w.extent());
    if (room < 0 && (!ceil_mode || room <= -w.stride)) {
        return invalid(
            {"a window of ", w.extent(), " does not fit in an axis of ", size, " padded to ", padded});
    }
    std::int64_t last = room < 0 ? 0 : room / w.stride;
    if (ceil_mode && room > 0 && room % w.stride != 0) ++last;
    if (ceil_mode && last > 0 && saturating_mul(last, w.stride) >= saturating_add(size, w.before)) --last;
    return last + 1;
}

HEADRACE_INLINE result<std::int64_t> transposed_window_size(
    std::int64_t size, const window& w, std::int64_t output_padding) {
    HEADRACE_TRY(check_window(w));
    const std::int64_t padding = saturating_add(w.before, w.after);
    const std::int64_t grown = saturating_add(saturating_mul(saturating_sub(size, 1), w.stride), w.extent());
    const std::int64_t given = saturating_add(saturating_sub(grown, padding), output_padding);
    if (given <= 0) return invalid("the padding is larger than the result");
    return given;
}

HEADRACE_INLINE result<std::array<window, 3>> windows_of(const window_lists& lists, std::size_t count) {
    if (count > 3) return invalid("windows have at most 3 dimensions");
    HEADRACE_TRY(kernel, list_for("kernel", lists.kernel, count));
    HEADRACE_TRY(stride, list_for("stride", lists.stride.empty() ? lists.kernel : lists.stride, count));
    HEADRACE_TRY(padding, list_for("padding", lists.padding, count));
    HEADRACE_TRY(dilation, list_for("dilation", lists.dilation, count));
    std::array<window, 3> windows{};
    for (std::size_t i = 0; i != count; ++i) {
        if (padding[i] < 0) return invalid("padding must not be negative");
        windows[i] = {kernel[i], stride[i], dilation[i], padding[i], padding[i]};
    }
    return windows;
}

}  // namespace headrace

#endif
