// SPDX-License-Identifier: MIT
// Defines headrace::u55::fitting_convolution, which makes any convolution of convolutions that fit Ethos-U55.
#ifndef HEADRACE_PASSES_U55_FITTING_CONVOLUTION_HPP
#define HEADRACE_PASSES_U55_FITTING_CONVOLUTION_HPP

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <type_traits>

#include <headrace/passes/support/constants.hpp>
#include <headrace/passes/support/slicing.hpp>
#include <headrace/target/u55_verify.hpp>

namespace headrace::u55 {

using convolve_ops =
    joined<build::strided_slice_ops, build::concat_ops, ops<tosa::conv2d, tosa::depthwise_conv2d, tosa::add>>;

/// Makes convolutions with constant weights, of several others if Ethos-U55 lacks one:
///
/// - If a long stride rules out padding or dilation, these become a PAD and zeros in the weight. A depthwise
///   convolution takes steps of up to 3 and drops some results.
/// - A kernel that is too large is split, and the partial results are added.
class fitting_convolution {
public:
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
        return {constant_bytes(a.weight), shape_builder(meta_of(a.weight)->shape),
            constant_integer(a.weight_zp).value_or(0)};
    }
    /// True if the weight and the other parameters are constants, so that parts of them can be taken.
    template <class Args>
    static bool is_constant(emit<convolve_ops> e, const Args& a) {
        return e.dtype(a.weight) == dtype::int8 && !constant_bytes(a.weight).empty() &&
            constant_integers(a.bias) && constant_integer(a.weight_zp) && constant_integer(a.input_zp);
    }

    template <class Op>
    static constexpr std::size_t first_axis = std::is_same_v<Op, tosa::conv2d> ? 1 : 0;  // of the kernel

    template <class Op>
    static convolution_window window_of(emit<convolve_ops> e, const args<Op>& a) {
        const int_list& kernel = e.shape(a.weight);
        return {kernel[first_axis<Op>], kernel[first_axis<Op> + 1], a.pad, a.stride, a.dilation,
            std::is_same_v<Op, tosa::depthwise_conv2d>};
    }
    /// True if Ethos-U55 has the convolution.
    template <class Op>
    static bool fits(emit<convolve_ops> e, const args<Op>& a) {
        const auto window = window_of<Op>(e, a);
        return window.kernel_fits() && window.stride_fits();
    }

    /// Makes a convolution, of others if Ethos-U55 lacks it.
    template <class Op>
    static value make(emit<convolve_ops> e, args<Op> a) {
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
                return make<Op>(e, undilated(e, a));
        }
        return in_parts<Op>(e, a);
    }

private:
    // Inserts zeros between the taps.
    static args<tosa::conv2d> undilated(emit<convolve_ops> e, args<tosa::conv2d> a) {
        const weight_view w = view(a);
        const shape_builder wide{w.shape[0], (w.shape[1] - 1) * a.dilation[0] + 1,
            (w.shape[2] - 1) * a.dilation[1] + 1, w.shape[3]};
        const std::int64_t dy = a.dilation[0];
        const std::int64_t dx = a.dilation[1];
        a.weight = build::constant_at(e, dtype::int8, wide, [&](const shape_builder& at) {
            if (at[1] % dy != 0 || at[2] % dx != 0) return w.zero;
            return w({at[0], at[1] / dy, at[2] / dx, at[3]});
        });
        a.dilation = {1, 1};
        return a;
    }

    // Replaces a stride above 3 by its longest short divisor, and drops some results.
    static value in_steps(emit<convolve_ops> e, args<tosa::depthwise_conv2d> a) {
        shape_builder dropped{1, 1};
        shape_builder stride(a.stride);
        shape_builder counts(e.shape(a.input));
        for (std::size_t i = 0; i != 2; ++i) {
            const std::int64_t extent = (e.shape(a.weight)[i] - 1) * a.dilation[i] + 1;
            counts[1 + i] = (counts[1 + i] - extent) / stride[i] + 1;
            if (stride[i] <= max_stride) continue;
            const std::int64_t step = stride[i] % 3 == 0 ? 3 : stride[i] % 2 == 0 ? 2 : 1;
            dropped[i] = stride[i] / step;
            stride[i] = step;
        }
        a.stride = int_list(stride);
        value v = make<tosa::depthwise_conv2d>(e, a);
        for (std::size_t i = 0; i != 2; ++i)
            v = build::strided_slice(e, v, 1 + i, 0, counts[1 + i], dropped[i]);
        return v;
    }

    // Splits the kernel into parts, each of which reads part of the image, and adds their results.
    template <class Op>
    static value in_parts(emit<convolve_ops> e, const args<Op>& a) {
        if (a.acc_type != dtype::int32) return e.make<Op>(a);  // INT48 cannot be added
        constexpr std::size_t first = first_axis<Op>;
        const weight_view w = view(a);
        const std::int64_t max_part[2] = {std::min(w.shape[first], max_kernel_height),
            max_kernel_taps / std::min(w.shape[first], max_kernel_height)};
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
                part.weight = build::constant_at(e, dtype::int8, shape, [&](shape_builder at) {
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
};

}  // namespace headrace::u55

#endif
