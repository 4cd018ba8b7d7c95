// SPDX-License-Identifier: MIT
// Defines headrace::legalize_convolution.
#ifndef HEADRACE_PASSES_LEGALIZE_LEGALIZE_CONVOLUTION_HPP
#define HEADRACE_PASSES_LEGALIZE_LEGALIZE_CONVOLUTION_HPP

#include <headrace/passes/support/convolution.hpp>

namespace headrace {

/// Lowers a convolution of one group, or depthwise, to CONV2D, DEPTHWISE_CONV2D, CONV3D or TRANSPOSE_CONV2D
/// (TOSA 1.0, 2.2.3 to 2.2.5 and 2.2.10) between transposes to and from channels-last. One spatial dimension
/// becomes two, the first of size 1.
struct legalize_convolution : pass {
    using targets = ops<aten::convolution>;
    using produces =
        joined<ops<tosa::conv2d, tosa::conv3d, tosa::depthwise_conv2d, tosa::transpose_conv2d, tosa::pad>,
               build::reshape_ops, build::transpose_ops, build::crop_ops>;

    value operator()(const args<aten::convolution>& a, emit<produces>& e) const {
        if (e.rank(a.input) == 3) return as_2d(a, e);
        if (a.transposed) return transposed(a, e);
        return forward(a, e);
    }

private:
    using emit_type = emit<produces>;

    // A spatial axis of size 1 before the one that is there.
    static value as_2d(args<aten::convolution> a, emit_type& e) {
        const auto widen = [&](value v) {
            shape_builder shape(e.shape(v));
            shape.insert(2, 1);
            return build::reshape(e, v, shape);
        };
        const int_list result = e.result_meta().shape;
        a.input = widen(a.input);
        a.weight = widen(a.weight);
        a.stride = {1, a.stride[0]};
        a.padding = {0, a.padding[0]};
        a.dilation = {1, a.dilation[0]};
        a.output_padding = {0, a.output_padding.empty() ? 0 : a.output_padding[0]};
        const int_list wide{result[0], result[1], 1, result[2]};
        return build::reshape(e, a.transposed ? transposed(a, e, wide) : forward(a, e, wide), result);
    }

    static value forward(const args<aten::convolution>& a, emit_type& e) {
        return forward(a, e, e.result_meta().shape);
    }
    static value forward(const args<aten::convolution>& a, emit_type& e, const int_list& result) {
        const std::size_t rank = e.rank(a.input);
        value input = build::transpose(e, a.input, build::to_channels_last(rank));
        window windows[3];
        for (std::size_t i = 0; i != rank - 2; ++i) {
            windows[i] = {e.shape(a.weight)[2 + i], a.stride[i], a.dilation[i], a.padding[i], a.padding[i]};
        }
        const auto fitted =
            build::fit_windows(e, input, std::span(windows, rank - 2), sizes(result).subspan(2));
        input = build::crop(e, input, fitted.used);
        const value weight = a.groups > 1 ? depthwise_weight(a, e) : dense_weight(a, e);
        const value made = a.groups > 1 ? convolve<tosa::depthwise_conv2d>(a, e, input, weight, fitted)
                           : rank == 4  ? convolve<tosa::conv2d>(a, e, input, weight, fitted)
                                        : convolve<tosa::conv3d>(a, e, input, weight, fitted);
        return build::transpose(e, made, build::to_channels_first(rank));
    }

    // PyTorch's weight [O, I, KH, KW] as TOSA's [O, KH, KW, I].
    static value dense_weight(const args<aten::convolution>& a, emit_type& e) {
        return build::transpose(e, a.weight, build::to_channels_last(e.rank(a.weight)));
    }

    // PyTorch's weight [C * M, 1, KH, KW] as TOSA's [KH, KW, C, M].
    static value depthwise_weight(const args<aten::convolution>& a, emit_type& e) {
        const int_list shape = e.shape(a.weight);
        const value split =
            build::reshape(e, a.weight, shape_builder{a.groups, shape[0] / a.groups, shape[2], shape[3]});
        return build::transpose(e, split, shape_builder{2, 3, 0, 1});
    }

    template <class Op>
    static value convolve(const args<aten::convolution>& a, emit_type& e, value input, value weight,
                          const build::window_attributes& w) {
        return e.make<Op>({.input = input,
                           .weight = weight,
                           .bias = bias_of(a, e),
                           .input_zp = build::zero_point(e, e.dtype(input)),
                           .weight_zp = build::zero_point(e, e.dtype(weight)),
                           .pad = int_list(w.pad),
                           .stride = int_list(w.stride),
                           .dilation = int_list(w.dilation),
                           .acc_type = build::accumulator_of(e.dtype(input))});
    }

    static value transposed(const args<aten::convolution>& a, emit_type& e) {
        return transposed(a, e, e.result_meta().shape);
    }
    static value transposed(const args<aten::convolution>& a, emit_type& e, const int_list& result) {
        if (e.rank(a.input) != 4) {
            return e.unsupported("TOSA has no transposed convolution of three dimensions; use one of two");
        }
        const value input = build::transpose(e, a.input, build::to_channels_last(4));
        const value weight = dilated(e, build::transpose(e, a.weight, shape_builder{1, 2, 3, 0}), a.dilation);
        shape_builder pad;
        for (std::size_t i = 0; i != 2; ++i) {
            // OH = (IH - 1) * stride + KH + before + after, so what follows from the size wanted is `after`.
            const std::int64_t full = (e.shape(input)[1 + i] - 1) * a.stride[i] + e.shape(weight)[1 + i];
            pad.push_back(-a.padding[i]);
            pad.push_back(result[2 + i] - full + a.padding[i]);
        }
        const value made =
            e.make<tosa::transpose_conv2d>({.input = input,
                                            .weight = weight,
                                            .bias = bias_of(a, e),
                                            .input_zp = build::zero_point(e, e.dtype(input)),
                                            .weight_zp = build::zero_point(e, e.dtype(weight)),
                                            .out_pad = int_list(pad),
                                            .stride = a.stride,
                                            .acc_type = build::accumulator_of(e.dtype(input))});
        return build::transpose(e, made, build::to_channels_first(4));
    }

    // TRANSPOSE_CONV2D has no dilation: zeros between the taps of the weight [O, KH, KW, I] say the same.
    static value dilated(emit_type& e, value weight, sizes dilation) {
        for (std::size_t i = 0; i != 2; ++i) {
            if (dilation[i] == 1) continue;
            const shape_builder shape(e.shape(weight));
            const std::size_t axis = 1 + i;
            shape_builder apart(shape);
            apart.insert(axis + 1, 1);
            shape_builder padding = shape_builder::filled(2 * apart.size(), 0);
            padding[2 * (axis + 1) + 1] = dilation[i] - 1;
            const value spread = e.make<tosa::pad>({.input1 = build::reshape(e, weight, apart),
                                                    .padding = build::const_shape(e, padding),
                                                    .pad_const = e.splat(0, e.dtype(weight), 1)});
            shape_builder wide(shape);
            wide[axis] *= dilation[i];
            shape_builder cut(wide);
            cut[axis] -= dilation[i] - 1;
            weight = build::crop(e, build::reshape(e, spread, wide), cut);
        }
        return weight;
    }

    // TOSA always wants a bias.
    static value bias_of(const args<aten::convolution>& a, emit_type& e) {
        if (a.bias) return *a.bias;
        const std::int64_t channels = a.transposed ? e.shape(a.weight)[1] : e.shape(a.weight)[0];
        return e.splat(0, e.dtype(a.input), std::array{channels});
    }
};

}  // namespace headrace

#endif
