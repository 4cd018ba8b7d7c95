// SPDX-License-Identifier: MIT
// Defines headrace::expand_windows.
#ifndef HEADRACE_PASSES_U55_EXPAND_WINDOWS_HPP
#define HEADRACE_PASSES_U55_EXPAND_WINDOWS_HPP

#include <algorithm>
#include <optional>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/passes/npu/preferring.hpp>
#include <headrace/passes/support/slicing.hpp>
#include <headrace/passes/support/transposed_rows.hpp>
#include <headrace/passes/u55/fitting_convolution.hpp>
#include <headrace/passes/u55/int32.hpp>
#include <headrace/target/u55_verify.hpp>

namespace headrace {

struct rescale_before_moving;

/// Expands windows that Ethos-U55 does not support. The results are exact.
///
/// - The depth of a window is stacked onto the channels.
/// - A transposed convolution with a stride other than 2 becomes one convolution for each row within the
///   stride. The columns within the stride are channels, which are adjacent in the result.
/// - Convolutions with long strides or large kernels are made of others (u55/fitting_convolution.hpp).
/// - A padded AVG_POOL2D is pooled without padding where windows are within the image, and separately at the
///   edges.
struct expand_windows : for_u55 {
    using runs_before = pass_list<rescale_before_moving>;
    static constexpr std::string_view summary =
        "lowers convolutions and poolings with windows that Ethos-U55 does not have";

    static auto rewrites() {
        return rules(on<tosa::conv2d> = code<of_windows<tosa::conv2d>>(),
            on<tosa::depthwise_conv2d> = code<of_windows<tosa::depthwise_conv2d>>(),
            on<tosa::conv3d> = code<of_depth>(), on<tosa::transpose_conv2d> = code<of_rows>(),
            on<tosa::avg_pool2d> = code<of_edges>(), on<tosa::max_pool2d> = code<of_padded>());
    }

private:
    using made = joined<u55::convolve_ops, ops<tosa::avg_pool2d, tosa::max_pool2d>>;
    using convolution = u55::fitting_convolution;
    template <class Op>
    static std::optional<value> of_windows(emit<made> e, const args<Op>& a) {
        if (!convolution::is_constant(e, a) || convolution::fits<Op>(e, a)) return std::nullopt;
        return convolution::make<Op>(e, a);
    }

    static std::optional<value> of_depth(emit<made> e, const args<tosa::conv3d>& a) {
        const shape_builder kernel(e.shape(a.weight));
        const auto zero = constant_integer(a.input_zp);
        if (kernel[1] == 1 || !convolution::is_constant(e, a) || !zero) return std::nullopt;
        const shape_builder result(e.result_meta().shape);
        const value deep = build::pad(e, a.input, 1, a.pad[0], a.pad[1], *zero);
        pmr_vector<value> slices;
        for (std::int64_t i = 0; i != kernel[1]; ++i)
            slices.push_back(build::strided_slice(e, deep, 1, i * a.dilation[0], result[1], a.stride[0]));
        const shape_builder image(e.shape(a.input));
        const shape_builder stacked{image[0] * result[1], image[2], image[3], kernel[1] * image[4]};
        const auto w = convolution::view(a);
        const value weight = build::constant_at(e, dtype::int8,
            shape_builder{kernel[0], kernel[2], kernel[3], stacked[3]}, [&](const shape_builder& at) {
                const std::int64_t c = at[3] % image[4];
                return w({at[0], at[3] / image[4], at[1], at[2], c});
            });
        const value flat = convolution::make<tosa::conv2d>(e,
            {.input = build::reshape(e, build::concat(e, slices, 4), stacked),
                .weight = weight,
                .bias = a.bias,
                .input_zp = a.input_zp,
                .weight_zp = a.weight_zp,
                .pad = int_list(sizes(a.pad).subspan(2)),
                .stride = int_list(sizes(a.stride).subspan(1)),
                .dilation = int_list(sizes(a.dilation).subspan(1)),
                .acc_type = a.acc_type});
        return build::reshape(e, flat, result);
    }

    static std::optional<value> of_rows(emit<made> e, const args<tosa::transpose_conv2d>& a) {
        const shape_builder kernel(e.shape(a.weight));
        const shape_builder image(e.shape(a.input));
        const bool fits = u55::transposed_stride_fits(a.stride, image, sizes(kernel).subspan(1)) &&
            kernel[1] <= u55::max_kernel_height && kernel[1] * kernel[2] <= u55::max_kernel_taps;
        if (fits || !convolution::is_constant(e, a)) return std::nullopt;
        const auto split = build::transposed_rows::of(e, a, e.result_meta().shape);
        if (!split) return std::nullopt;
        return split->joined_rows(e, split->rows(e, [&](const args<tosa::conv2d>& row) {
            return convolution::make<tosa::conv2d>(e, row);
        }));
    }

    static std::optional<value> of_edges(emit<made> e, const args<tosa::avg_pool2d>& a) {
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
    static std::optional<value> of_padded(emit<made> e, args<tosa::max_pool2d> a) {
        const u55::pooling_window window{a.kernel, a.pad, a.stride};
        if (window.fits() || !window.is_padded()) return std::nullopt;
        const scalar lowest = build::bounds_of(e.dtype(a.input)).first;
        for (std::size_t i = 0; i != 2; ++i)
            a.input = build::pad(e, a.input, 1 + i, a.pad[2 * i], a.pad[2 * i + 1], lowest);
        a.pad = {0, 0, 0, 0};
        return e.make<tosa::max_pool2d>(a);
    }

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
