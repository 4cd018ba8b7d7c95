// SPDX-License-Identifier: MIT
// Defines the preconditions of the cortex_m dialect: requirements that the runtime's kernels have.
#ifndef HEADRACE_INFER_CORTEX_M_CHECKS_HPP
#define HEADRACE_INFER_CORTEX_M_CHECKS_HPP

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include <headrace/infer/preconditions.hpp>
#include <headrace/infer/window.hpp>

namespace headrace::cortex_m {

/// Refuses tensors that are not int8.
inline result<void> require_int8(std::string_view what, const tensor_meta& t) {
    return require_dtype(what, t.dtype, dtype::int8);
}
inline result<void> require_int8(
    std::string_view first, const tensor_meta& a, std::string_view second, const tensor_meta& b) {
    HEADRACE_TRY(require_int8(first, a));
    return require_int8(second, b);
}
inline result<void> require_int8_or_int16(std::string_view what, dtype given) {
    if (given == dtype::int8 || given == dtype::int16) return {};
    return headrace::detail::other_dtype(what, given, "int8 or int16");
}

/// Refuses bounds of quantized values that int8 or int16 does not hold.
inline result<void> require_quantized_range(dtype type, std::int64_t quant_min, std::int64_t quant_max) {
    HEADRACE_TRY(require_int8_or_int16("dtype", type));
    const std::int64_t half = type == dtype::int8 ? 128 : 32768;
    HEADRACE_TRY(require_at_least("quant_min", quant_min, -half));
    return require_between("quant_max", quant_max, std::numeric_limits<std::int64_t>::min(), half - 1);
}

/// Refuses a multiplier that is not in int32, or a shift by more bits than there are.
inline result<void> require_scaling(std::string_view what, std::int64_t multiplier, std::int64_t shift) {
    using limits = std::numeric_limits<std::int32_t>;
    if (multiplier < limits::min() || multiplier > limits::max())
        return invalid({what, "_multiplier is ", multiplier, ", which int32 does not hold"});
    if (shift < -31 || shift > 31)
        return invalid({what, "_shift is ", shift, ", but must be from -31 to 31"});
    return {};
}

/// True if the kernels read a tensor's elements in the order N, H, W, C. Where that is also the logical order
/// of NCHW, they assume it.
[[nodiscard]] inline bool is_channels_last(const tensor_meta& t) {
    if (t.rank() != 4) return false;
    if (t.shape[1] == 1 || (t.shape[2] == 1 && t.shape[3] == 1)) return true;
    constexpr std::array<std::int64_t, 4> order{0, 2, 3, 1};
    return std::ranges::equal(t.dim_order, order);
}

/// True if one operand has an element for each channel of the other, which is its axis 1.
[[nodiscard]] inline bool is_channel_broadcast(sizes a, sizes b) {
    if (a.size() != 4 || b.size() != 4 || a[1] != b[1]) return false;
    return element_count(a) == a[1] || element_count(b) == b[1];
}

/// Refuses sizes along the width that the kernels' loops misread: one element for each row of the other
/// operand moves two elements a row.
inline result<void> require_readable(sizes self, sizes other) {
    const auto axis = [](sizes shape, std::size_t from_end) {
        return from_end > shape.size() ? 1 : shape[shape.size() - from_end];
    };
    const bool skips = axis(self, 1) == 1 && axis(self, 2) == 1 && axis(self, 3) > 1 && axis(other, 2) > 1;
    if (!skips) return {};
    return unsupported({"the kernel does not broadcast one element for each row, ", shape_text(self), ", to ",
        shape_text(other)});
}

/// Refuses optional numbers of int32 that are not one for each result channel.
inline result<void> require_int32_per_channel(
    std::string_view what, const std::optional<value>& v, std::int64_t channels) {
    HEADRACE_TRY(require_dtype(what, v, dtype::int32));
    return require_elements(what, v, channels);
}

/// Refuses operands of a convolution that its kernel does not take. `out` is the number of result channels.
template <class Args>
result<void> require_convolution(const Args& a, std::int64_t out) {
    HEADRACE_TRY(require_int8("input", inference::of(a.input), "weight", inference::of(a.weight)));
    HEADRACE_TRY(require_int32_per_channel("bias", a.bias, out));
    HEADRACE_TRY(require_int32_per_channel("requantize_multipliers", a.requantize_multipliers, out));
    HEADRACE_TRY(require_int32_per_channel("requantize_shifts", a.requantize_shifts, out));
    HEADRACE_TRY(require_count("stride", a.stride.size(), 2));
    HEADRACE_TRY(require_count("padding", a.padding.size(), 2));
    return require_count("dilation", a.dilation.size(), 2);
}

/// One axis of a transposed convolution.
struct transposed_axis {
    std::int64_t size;
    window moving;
    std::int64_t output_padding;
};
/// Refuses a transposed convolution whose kernel would write or read outside of its buffers. For strides up
/// to 2 and more than 16 input channels, CMSIS-NN convolves with the reversed weight; otherwise it adds up
/// rows, and writes out as many of them as it has read, times the stride.
inline result<void> require_transposed(
    std::int64_t channels, const transposed_axis& height, const transposed_axis& width) {
    const auto refuse = [](std::string_view why) {
        return unsupported({"the kernel of transposed convolutions ", why});
    };
    for (const transposed_axis* axis : {&height, &width}) {
        if (axis->moving.dilation != 1) return refuse("has no dilation");
        if (axis->output_padding < 0) return refuse("has no negative output_padding");
    }
    const bool reversed = channels > 16 && height.moving.stride <= 2 && width.moving.stride <= 2;
    for (const transposed_axis* axis : {&height, &width}) {
        const window& w = axis->moving;
        const std::int64_t end = saturating_add(w.kernel, axis->output_padding);
        if (reversed ? w.before >= w.kernel : end > saturating_add(w.before, std::max(w.kernel, w.stride)))
            return refuse("needs less padding, or less output_padding");
    }
    if (reversed) return {};
    const window& rows = height.moving;
    const bool fits =
        saturating_add(rows.stride, rows.before) <= saturating_add(rows.kernel, height.output_padding) &&
        saturating_mul(height.size, rows.stride) >= rows.before;
    return fits ? result<void>() : refuse("needs a weight as high as stride and padding");
}

/// Refuses arguments of a pooling that its kernel does not take: each window must reach into the input.
inline result<void> require_pooling(const tensor_meta& input, sizes kernel, sizes stride, sizes padding) {
    HEADRACE_TRY(require_int8("input", input));
    HEADRACE_TRY(require_nonempty("input", input.shape));
    HEADRACE_TRY(require_count("kernel_size", kernel.size(), 2));
    HEADRACE_TRY(require_count("stride", stride.size(), 2));
    HEADRACE_TRY(require_count("padding", padding.size(), 2));
    for (std::size_t i = 0; i != 2; ++i) {
        if (padding[i] >= kernel[i])
            return invalid({"padding ", padding[i], " must be less than kernel_size ", kernel[i]});
    }
    return {};
}

/// The elements before and after each axis of the input of PAD.
struct axis_padding {
    std::int64_t before, after;
};
/// Returns the padding of the logical axes of a tensor of rank 1 to 4: the arguments have four elements, of
/// which such a tensor uses the last, in the order N, H, W, C if it is channels_last.
[[nodiscard]] inline std::array<axis_padding, 4> logical_padding(
    const tensor_meta& t, sizes before, sizes after) {
    constexpr std::array<std::size_t, 4> from_nhwc{0, 3, 1, 2};
    const bool last = is_channels_last(t);
    std::array<axis_padding, 4> axes{};
    for (std::size_t i = 0; i != t.rank(); ++i) {
        const std::size_t at = last ? from_nhwc[i] : 4 - t.rank() + i;
        axes[i] = {before[at], after[at]};
    }
    return axes;
}

}  // namespace headrace::cortex_m

#endif
