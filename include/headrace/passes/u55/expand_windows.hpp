// SPDX-License-Identifier: MIT
// Defines headrace::expand_windows.
#ifndef HEADRACE_PASSES_U55_EXPAND_WINDOWS_HPP
#define HEADRACE_PASSES_U55_EXPAND_WINDOWS_HPP

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/slicing.hpp>
#include <headrace/passes/u55/for_u55.hpp>
#include <headrace/passes/u55/int32.hpp>
#include <headrace/target/u55_verify.hpp>

namespace headrace {

struct rescale_before_moving;

/// Expands windows that Ethos-U55 does not support. The results are exact.
///
/// - The depth of a window is stacked onto the channels.
/// - A transposed convolution with a stride other than 2 becomes one convolution for each row within the
///   stride. The columns within the stride are channels, which are adjacent in the result.
/// - If a long stride rules out padding or dilation, these become a PAD and zeros in the weight. A depthwise
///   convolution takes steps of up to 3 and drops some results.
/// - A kernel that is too large is split, and the partial results are added.
/// - A padded AVG_POOL2D is pooled without padding where windows are within the image, and separately at the
///   edges.
struct expand_windows : pass, for_u55 {
    using phase = expansion;
    using runs_before = pass_list<rescale_before_moving>;
    static constexpr std::string_view summary =
        "lowers convolutions and poolings with windows that Ethos-U55 does not have";

    using targeted_ops = ops<tosa::conv2d, tosa::depthwise_conv2d, tosa::conv3d, tosa::transpose_conv2d,
        tosa::avg_pool2d, tosa::max_pool2d>;
    using produces = joined<build::strided_slice_ops, build::concat_ops,
        ops<tosa::conv2d, tosa::depthwise_conv2d, tosa::avg_pool2d, tosa::max_pool2d, tosa::add>>;

    template <one_of<ops<tosa::conv2d, tosa::depthwise_conv2d>> Op>
    std::optional<value> operator()(Op, const args<Op>& a, emit<produces>& e) const {
        if (!is_constant(e, a) || fits<Op>(e, a)) return std::nullopt;
        return convolved<Op>(e, a);
    }

    std::optional<value> operator()(const args<tosa::conv3d>& a, emit<produces>& e) const {
        const shape_builder kernel(e.shape(a.weight));
        const auto zero = constant_integer(a.input_zp);
        if (kernel[1] == 1 || !is_constant(e, a) || !zero) return std::nullopt;
        const shape_builder result(e.result_meta().shape);
        const value deep = build::pad(e, a.input, 1, a.pad[0], a.pad[1], *zero);
        pmr_vector<value> slices;
        for (std::int64_t i = 0; i != kernel[1]; ++i)
            slices.push_back(build::strided_slice(e, deep, 1, i * a.dilation[0], result[1], a.stride[0]));
        const shape_builder image(e.shape(a.input));
        const shape_builder stacked{image[0] * result[1], image[2], image[3], kernel[1] * image[4]};
        const weight_view w = view(a);
        const value weight = weight_of(
            e, shape_builder{kernel[0], kernel[2], kernel[3], stacked[3]}, [&](const shape_builder& at) {
                const std::int64_t c = at[3] % image[4];
                return w({at[0], at[3] / image[4], at[1], at[2], c});
            });
        const value flat = convolved<tosa::conv2d>(e,
            {.input = build::reshape(e, build::concat(e, slices, 4), stacked),
                .weight = weight,
                .bias = a.bias,
                .input_zp = a.input_zp,
                .weight_zp = a.weight_zp,
                .pad = int_list(shape_builder(sizes(a.pad).subspan(2))),
                .stride = int_list(shape_builder(sizes(a.stride).subspan(1))),
                .dilation = int_list(shape_builder(sizes(a.dilation).subspan(1))),
                .acc_type = a.acc_type});
        return build::reshape(e, flat, result);
    }

    std::optional<value> operator()(const args<tosa::transpose_conv2d>& a, emit<produces>& e) const {
        const shape_builder kernel(e.shape(a.weight));
        const shape_builder image(e.shape(a.input));
        const bool fits = u55::transposed_stride_fits(a.stride, image, sizes(kernel).subspan(1)) &&
            kernel[1] <= u55::max_kernel_height && kernel[1] * kernel[2] <= u55::max_kernel_taps;
        if (fits || !is_constant(e, a)) return std::nullopt;
        const shape_builder result(e.result_meta().shape);
        phases axes[2];
        for (std::size_t i = 0; i != 2; ++i)
            axes[i] = phases_of(a.stride[i], kernel[1 + i], image[1 + i], a.out_pad[2 * i], result[1 + i]);
        const auto& [h, w] = axes;
        if (h.after < 0 || w.after < 0) return std::nullopt;  // windows that only read padding
        const weight_view taps = view(a);
        const std::int64_t channels = kernel[0];
        pmr_vector<value> rows;
        value input = a.input;
        for (std::size_t i = 0; i != 2; ++i)
            input = build::slice(e, input, 1 + i, axes[i].first, axes[i].count);
        for (std::int64_t row = 0; row != h.stride; ++row) {
            const value weight = weight_of(e, shape_builder{w.stride * channels, h.taps, w.taps, kernel[3]},
                [&](const shape_builder& at) {
                    const std::int64_t y = row + h.stride * (h.taps - 1 - at[1]);
                    const std::int64_t x = at[0] / channels + w.stride * (w.taps - 1 - at[2]);
                    if (y >= kernel[1] || x >= kernel[2]) return taps.zero;
                    return taps({at[0] % channels, y, x, at[3]});
                });
            rows.push_back(convolved<tosa::conv2d>(e,
                {.input = input,
                    .weight = weight,
                    .bias = u55::repeat(e, a.bias, w.stride),
                    .input_zp = a.input_zp,
                    .weight_zp = a.weight_zp,
                    .pad = {h.before, h.after, w.before, w.after},
                    .stride = {1, 1},
                    .dilation = {1, 1},
                    .acc_type = a.acc_type}));
        }
        const value whole = build::reshape(e, build::concat(e, rows, 2),
            shape_builder{image[0], h.positions * h.stride, w.positions * w.stride, channels});
        return build::slice(e, build::slice(e, whole, 1, h.skipped, result[1]), 2, w.skipped, result[2]);
    }

    std::optional<value> operator()(const args<tosa::avg_pool2d>& a, emit<produces>& e) const {
        const u55::pooling_window window{a.kernel, a.pad, a.stride, true};
        if (window.fits() || !window.is_padded()) return std::nullopt;
        const shape_builder result(e.result_meta().shape);
        const auto rows = parts_of(a, 0, e.shape(a.input)[1], result[1]);
        const auto columns = parts_of(a, 1, e.shape(a.input)[2], result[2]);
        constexpr std::size_t max_parts = 256;
        if (rows.size() * columns.size() > max_parts) {
            return e.unsupported(
                "Ethos-U55 has no such window with padding, and without padding it would take more than 256 "
                "windows; drop u55 from the target, or pool with less padding");
        }
        pmr_vector<value> strips;
        for (const part& row : rows) {
            const value strip = build::slice(e, a.input, 1, row.first, row.size);
            pmr_vector<value> pooled;
            for (const part& column : columns) {
                args<tosa::avg_pool2d> one = a;
                one.input = build::slice(e, strip, 2, column.first, column.size);
                one.kernel = {row.kernel, column.kernel};
                one.stride = {row.stride, column.stride};
                one.pad = {0, 0, 0, 0};
                pooled.push_back(e.make<tosa::avg_pool2d>(one));
            }
            strips.push_back(build::concat(e, pooled, 2));
        }
        return build::concat(e, strips, 1);
    }

    // Padding is never the largest element.
    std::optional<value> operator()(const args<tosa::max_pool2d>& a, emit<produces>& e) const {
        const u55::pooling_window window{a.kernel, a.pad, a.stride};
        if (window.fits() || !window.is_padded()) return std::nullopt;
        args<tosa::max_pool2d> bare = a;
        const scalar lowest = build::bounds_of(e.dtype(a.input)).first;
        for (std::size_t i = 0; i != 2; ++i)
            bare.input = build::pad(e, bare.input, 1 + i, a.pad[2 * i], a.pad[2 * i + 1], lowest);
        bare.pad = {0, 0, 0, 0};
        return e.make<tosa::max_pool2d>(bare);
    }

private:
    // --- weights ---------------------------------------------------------------------------

    /// A constant INT8 weight, accessed by position.
    struct weight_view {
        std::span<const std::byte> bytes;
        shape_builder shape;
        std::int64_t zero = 0;

        std::int64_t operator()(std::initializer_list<std::int64_t> at) const {
            return static_cast<std::int8_t>(bytes[build::element_index(shape, at)]);
        }
    };
    template <class Args>
    static weight_view view(const Args& a) {
        return {u55::constant_bytes(a.weight), shape_builder(meta_of(a.weight)->shape),
            constant_integer(a.weight_zp).value_or(0)};
    }
    template <class Args>
    static bool is_constant(emit<produces>& e, const Args& a) {
        return e.dtype(a.weight) == dtype::int8 && !u55::constant_bytes(a.weight).empty() &&
            constant_integers(a.bias) && constant_integer(a.weight_zp) && constant_integer(a.input_zp);
    }
    static value weight_of(emit<produces>& e, const shape_builder& shape, const auto& element) {
        return build::constant_at(e, dtype::int8, shape, element);
    }
    // --- forward ---------------------------------------------------------------------------

    template <class Op>
    static constexpr std::size_t first_axis = std::is_same_v<Op, tosa::conv2d> ? 1 : 0;  // of the kernel

    template <class Op>
    static u55::convolution_window window_of(emit<produces>& e, const args<Op>& a) {
        const int_list& kernel = e.shape(a.weight);
        return {kernel[first_axis<Op>], kernel[first_axis<Op> + 1], a.pad, a.stride, a.dilation,
            std::is_same_v<Op, tosa::depthwise_conv2d>};
    }
    template <class Op>
    static bool fits(emit<produces>& e, const args<Op>& a) {
        const auto window = window_of<Op>(e, a);
        return window.kernel_fits() && window.stride_fits();
    }

    template <class Op>
    static value convolved(emit<produces>& e, args<Op> a) {
        if (!a.input || fits<Op>(e, a)) return e.make<Op>(a);
        for (std::size_t i = 0; i != 2; ++i)
            a.input =
                build::pad(e, a.input, 1 + i, a.pad[2 * i], a.pad[2 * i + 1], *constant_integer(a.input_zp));
        a.pad = {0, 0, 0, 0};
        if (!a.input || fits<Op>(e, a)) return e.make<Op>(a);
        if (!window_of<Op>(e, a).stride_fits()) {
            if constexpr (std::is_same_v<Op, tosa::depthwise_conv2d>)
                return in_steps(e, a);
            else
                return convolved<Op>(e, undilated(e, a));
        }
        return in_parts<Op>(e, a);
    }

    // Inserts zeros between the taps.
    static args<tosa::conv2d> undilated(emit<produces>& e, args<tosa::conv2d> a) {
        const weight_view w = view(a);
        const shape_builder wide{w.shape[0], (w.shape[1] - 1) * a.dilation[0] + 1,
            (w.shape[2] - 1) * a.dilation[1] + 1, w.shape[3]};
        const std::int64_t dy = a.dilation[0];
        const std::int64_t dx = a.dilation[1];
        a.weight = weight_of(e, wide, [&](const shape_builder& at) {
            if (at[1] % dy != 0 || at[2] % dx != 0) return w.zero;
            return w({at[0], at[1] / dy, at[2] / dx, at[3]});
        });
        a.dilation = {1, 1};
        return a;
    }

    // Replaces a stride above 3 by its longest short divisor, and drops some results.
    static value in_steps(emit<produces>& e, args<tosa::depthwise_conv2d> a) {
        shape_builder dropped{1, 1};
        shape_builder stride(a.stride);
        shape_builder counts(e.shape(a.input));
        for (std::size_t i = 0; i != 2; ++i) {
            const std::int64_t extent = (e.shape(a.weight)[i] - 1) * a.dilation[i] + 1;
            counts[1 + i] = (counts[1 + i] - extent) / stride[i] + 1;
            if (stride[i] <= u55::max_stride) continue;
            const std::int64_t step = stride[i] % 3 == 0 ? 3 : stride[i] % 2 == 0 ? 2 : 1;
            dropped[i] = stride[i] / step;
            stride[i] = step;
        }
        a.stride = int_list(stride);
        value v = convolved<tosa::depthwise_conv2d>(e, a);
        for (std::size_t i = 0; i != 2; ++i)
            v = build::strided_slice(e, v, 1 + i, 0, counts[1 + i], dropped[i]);
        return v;
    }

    // Splits the kernel into parts, each of which reads part of the image, and adds their results.
    template <class Op>
    static value in_parts(emit<produces>& e, const args<Op>& a) {
        if (a.acc_type != dtype::int32) return e.make<Op>(a);  // INT48 cannot be added
        constexpr std::size_t first = first_axis<Op>;
        const weight_view w = view(a);
        const std::int64_t max_part[2] = {std::min(w.shape[first], u55::max_kernel_height),
            u55::max_kernel_taps / std::min(w.shape[first], u55::max_kernel_height)};
        std::int64_t positions[2];
        for (std::size_t i = 0; i != 2; ++i) {
            const std::int64_t extent = (w.shape[first + i] - 1) * a.dilation[i] + 1;
            positions[i] = (e.shape(a.input)[1 + i] - extent) / a.stride[i] + 1;
        }
        value sum;
        for (std::int64_t y = 0; y < w.shape[first]; y += max_part[0]) {
            for (std::int64_t x = 0; x < w.shape[first + 1]; x += max_part[1]) {
                const std::int64_t from[2] = {y, x};
                args<Op> part = a;
                shape_builder shape = w.shape;
                for (std::size_t i = 0; i != 2; ++i) {
                    shape[first + i] = std::min(max_part[i], w.shape[first + i] - from[i]);
                    const std::int64_t extent = (shape[first + i] - 1) * a.dilation[i] + 1;
                    part.input = build::slice(e, part.input, 1 + i, from[i] * a.dilation[i],
                        (positions[i] - 1) * a.stride[i] + extent);
                }
                part.weight = weight_of(e, shape, [&](shape_builder at) {
                    at[first] += y;
                    at[first + 1] += x;
                    return w({at[0], at[1], at[2], at[3]});
                });
                if (sum) part.bias = e.splat(0, dtype::int32, e.shape(a.bias));
                const value made = e.make<Op>(part);
                sum = sum ? e.make<tosa::add>(sum, made) : made;
            }
        }
        return sum;
    }

    // --- transposed ------------------------------------------------------------------------

    /// Result o of an axis is the sum of tap k times element i over i · stride + k + out_pad = o. Results
    /// with the same remainder by the stride are a convolution with every stride-th tap, in reverse order.
    struct phases {
        std::int64_t stride, taps;
        std::int64_t first, count;   ///< the elements that are read
        std::int64_t before, after;  ///< padding
        std::int64_t positions, skipped;
    };
    static phases phases_of(std::int64_t stride, std::int64_t kernel, std::int64_t size, std::int64_t out_pad,
        std::int64_t result) {
        const std::int64_t taps = (kernel + stride - 1) / stride;
        const std::int64_t from = u55::floor_division(-out_pad, stride);
        const std::int64_t to = u55::floor_division(result - 1 - out_pad, stride);
        const std::int64_t least = from - taps + 1;  // the first element that a window reads
        const std::int64_t first = std::clamp<std::int64_t>(least, 0, size - 1);
        const std::int64_t last = std::clamp<std::int64_t>(to, 0, size - 1);
        return {stride, taps, first, last - first + 1, first - least, to - last, to - from + 1,
            -out_pad - from * stride};
    }

    // --- pooling -----------------------------------------------------------------------------

    /// Positions of a window along an axis that read equally many elements.
    struct part {
        std::int64_t first, size, kernel, stride;
    };
    static pmr_vector<part> parts_of(
        const args<tosa::avg_pool2d>& a, std::size_t axis, std::int64_t size, std::int64_t positions) {
        const std::int64_t kernel = a.kernel[axis];
        const std::int64_t stride = a.stride[axis];
        pmr_vector<part> parts;
        std::int64_t whole = 0;  // number of positions so far that read no padding
        for (std::int64_t o = 0; o != positions; ++o) {
            const std::int64_t from = o * stride - a.pad[2 * axis];
            const std::int64_t first = std::max<std::int64_t>(from, 0);
            const std::int64_t end = std::min(from + kernel, size);
            if (end - first == kernel && whole++ != 0) {
                parts.back().size += stride;
                parts.back().stride = stride;
            } else {
                parts.push_back({first, end - first, end - first, 1});
            }
        }
        return parts;
    }
};
HEADRACE_COMPILED_PASS(expand_windows);

}  // namespace headrace

#endif
