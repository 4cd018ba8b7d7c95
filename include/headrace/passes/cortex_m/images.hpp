// SPDX-License-Identifier: MIT
// Defines headrace::cortex_m::place_windows, which fits TOSA's windows to CMSIS-NN's, the arguments that
// kernels of convolutions share, and the ATen ops by which integers are moved.
#ifndef HEADRACE_PASSES_CORTEX_M_IMAGES_HPP
#define HEADRACE_PASSES_CORTEX_M_IMAGES_HPP

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include <headrace/dialect/tosa.hpp>
#include <headrace/infer/aten.hpp>
#include <headrace/infer/window.hpp>
#include <headrace/match/node_pattern.hpp>
#include <headrace/passes/cortex_m/scaling.hpp>
#include <headrace/passes/cortex_m/scratch.hpp>
#include <headrace/passes/support/constants.hpp>

namespace headrace::cortex_m {

/// Gives a tensor another shape.
inline value view(emit<ops<aten::view>> e, value v, sizes shape) {
    if (!v || e.shape(v) == int_list(shape)) return v;
    return e.make<aten::view>({.self = v, .size = int_list(shape)});
}
/// Takes `size` elements of an axis.
inline value slice(
    emit<ops<aten::slice_tensor>> e, value v, std::size_t axis, std::int64_t start, std::int64_t size) {
    if (!v || e.shape(v)[axis] == size) return v;
    return e.make<aten::slice_tensor>(
        {.self = v, .dim = static_cast<std::int64_t>(axis), .start = start, .end = start + size, .step = 1});
}

/// True if CMSIS-NN's kernels take an image of that shape: they keep sizes in 16 bits.
[[nodiscard]] inline bool fits_kernels(sizes shape) {
    return std::ranges::all_of(shape, [](std::int64_t size) { return size <= INT16_MAX; });
}

/// The ops that place_windows and placed_image may emit.
using image_ops = ops<aten::view, aten::constant_pad_nd>;

/// An image (N, H, W, C), and its windows with equal padding on both sides.
struct placed_image {
    value tensor;
    std::array<window, 2> windows{};

    [[nodiscard]] int_list strides() const { return {windows[0].stride, windows[1].stride}; }
    [[nodiscard]] int_list padding() const { return {windows[0].before, windows[1].before}; }
    [[nodiscard]] int_list dilation() const { return {windows[0].dilation, windows[1].dilation}; }
    [[nodiscard]] int_list kernel() const { return {windows[0].kernel, windows[1].kernel}; }
    [[nodiscard]] bool is_pointwise() const {
        const auto is_point = [](const window& w) { return w.kernel == 1 && w.stride == 1 && w.before == 0; };
        return is_point(windows[0]) && is_point(windows[1]);
    }
    /// Returns what sizes of buffers depend on; `in_group` is the number of channels that a window reads.
    [[nodiscard]] convolution_sizes sizes_of(
        const emitter& e, std::int64_t out, std::int64_t in_group) const {
        const int_list& shape = e.shape(tensor);
        return {shape[1], shape[2], shape[3], out, windows[0], windows[1], in_group != shape[3]};
    }
    /// Exchanges height and width of an image of one row.
    void turn(emit<ops<aten::view>> e) {
        const shape_builder shape(e.shape(tensor));
        tensor = view(e, tensor, shape_builder{shape[0], shape[2], shape[1], shape[3]});
        std::swap(windows[0], windows[1]);
    }
};

/// The operands of a convolution besides its image.
struct convolution_operands {
    value weight;
    std::optional<value> bias{};
    std::int64_t input_offset = 0, output_offset = 0;
};
/// Returns what all kernels of convolutions take; the caller adds their buffers.
template <op_tag Op>
args<Op> convolution_of(
    const placed_image& image, const convolution_operands& operands, const channel_factors& factors) {
    args<Op> a{};
    a.input = image.tensor;
    a.weight = operands.weight;
    a.bias = operands.bias;
    a.stride = image.strides();
    a.padding = image.padding();
    a.dilation = image.dilation();
    a.input_offset = operands.input_offset;
    a.output_offset = operands.output_offset;
    a.requantize_multipliers = factors.multipliers;
    a.requantize_shifts = factors.shifts;
    a.activation_min = -128;
    a.activation_max = 127;
    return a;
}

/// True if the windows are in the same places with the first padding on both sides.
[[nodiscard]] inline bool has_equal_padding(const window& w, std::int64_t size, std::int64_t positions) {
    return size + 2 * w.before >= w.extent() &&
        (size + 2 * w.before - w.extent()) / w.stride + 1 == positions;
}

/// Fits the windows of an operator over an image to kernels that pad equally on both sides: `number` pads an
/// image whose windows are elsewhere otherwise. Undoes crops that only make windows fit, which the kernels do
/// not need. Nothing if the image has another rank, or is too large for a kernel.
template <class Args>
std::optional<placed_image> place_windows(
    emit<image_ops> e, const Args& a, const std::array<std::int64_t, 2>& kernel, std::int64_t number) {
    if (e.rank(a.input) != 4 || !fits_kernels(e.shape(a.input)) || !fits_kernels(e.result_meta().shape))
        return std::nullopt;
    placed_image placed{a.input};
    const int_list& out = e.result_meta().shape;
    const auto* const cropped = match<tosa::slice>(a.input);
    const auto* const from = cropped != nullptr ? match<tosa::const_shape>(cropped->start) : nullptr;
    const bool keeps_begin =
        from != nullptr && std::ranges::all_of(from->values, [](std::int64_t i) { return i == 0; });
    bool may_uncrop = keeps_begin && e.shape(cropped->input1)[0] == e.shape(a.input)[0] &&
        e.shape(cropped->input1)[3] == e.shape(a.input)[3];
    bool fits = true;
    for (std::size_t i = 0; i != 2; ++i) {
        window& w = placed.windows[i];
        w = {kernel[i], a.stride[i], 1, a.pad[2 * i], a.pad[2 * i + 1]};
        if constexpr (requires { a.dilation; }) w.dilation = kernel[i] == 1 ? 1 : a.dilation[i];
        // CMSIS-NN's kernel for images of one row has no rows of padding.
        const bool pads_row = i == 0 && e.shape(a.input)[1] == 1 && w.kernel == 1 && w.before != 0;
        may_uncrop = may_uncrop && !pads_row && w.after == 0 &&
            has_equal_padding(w, e.shape(cropped->input1)[1 + i], out[1 + i]);
        fits = fits && !pads_row && has_equal_padding(w, e.shape(a.input)[1 + i], out[1 + i]);
    }
    if (may_uncrop) placed.tensor = cropped->input1;
    if (!fits && !may_uncrop) {
        const auto& [rows, columns] = placed.windows;
        placed.tensor = e.make<aten::constant_pad_nd>({.self = a.input,
            .pad = {0, 0, columns.before, columns.after, rows.before, rows.after},
            .value = scalar(number)});
        for (window& w : placed.windows) w.before = 0;
    }
    for (window& w : placed.windows) w.after = w.before;
    return placed;
}

}  // namespace headrace::cortex_m

#endif
