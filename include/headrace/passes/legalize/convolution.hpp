// SPDX-License-Identifier: MIT
// Defines the passes that lower convolutions, poolings, matrix products and upsampling.
#ifndef HEADRACE_PASSES_LEGALIZE_CONVOLUTION_HPP
#define HEADRACE_PASSES_LEGALIZE_CONVOLUTION_HPP

#include <array>

#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/casting.hpp>
#include <headrace/passes/support/convolution.hpp>
#include <headrace/passes/support/resizing.hpp>
#include <headrace/passes/support/windows.hpp>

namespace headrace {

struct decompose_dilated_pooling;
struct decompose_grouped_convolution;
struct decompose_matmul;
struct decompose_transposed_volumes;

/// Lowers a convolution of one group, or depthwise, to CONV2D, DEPTHWISE_CONV2D, CONV3D or TRANSPOSE_CONV2D
/// (TOSA 1.0, 2.2.3 to 2.2.5 and 2.2.10) between transposes to and from channels-last. One spatial dimension
/// becomes two, the first of size 1.
struct legalize_convolution : pass_in<legalization> {
    using runs_after =
        pass_list<canonical_convolutions, decompose_grouped_convolution, decompose_transposed_volumes>;
    static constexpr std::string_view summary = "convolution to TOSA's four, with channels last";

    using made = build::convolution_ops;
    static auto rewrites() {
        return rules(on<aten::convolution> = code<made>([](emit<made> e, const auto& a) {
            const int_list result = e.result_meta().shape;
            return build::channels_first(e, build::convolution(e, a).channels_last(result), result);
        }));
    }
};
HEADRACE_COMPILED_PASS(legalize_convolution);

/// Lowers pooling over [N, C, H, W] to AVG_POOL2D and MAX_POOL2D (TOSA 1.0, 2.2.2 and 2.2.8) between
/// transposes to and from channels-last. A divisor given by the caller becomes a factor.
struct legalize_pooling : pass_in<legalization> {
    using runs_after = pass_list<canonical_pooling, decompose_dilated_pooling>;
    static constexpr std::string_view summary = "avg_pool2d and max_pool2d to AVG_POOL2D and MAX_POOL2D";

    static auto rewrites() {
        return rules(on<aten::avg_pool2d> = code<averages>(), on<aten::max_pool2d> = code<maxima>());
    }

private:
    static value averages(
        emit<joined<build::average_pool_ops, ops<tosa::mul>>> e, const args<aten::avg_pool2d>& a) {
        if (!is_floating(e.dtype(a.self))) {
            return e.unsupported(
                "TOSA has no average of integers that rounds toward zero, as PyTorch's does; average floats");
        }
        value pooled = build::average_pool(e, a);
        if (a.divisor_override) {
            const std::int64_t area = a.kernel_size[0] * a.kernel_size[a.kernel_size.size() - 1];
            const double factor = static_cast<double>(area) / static_cast<double>(*a.divisor_override);
            pooled = build::multiply(e, pooled, e.splat(factor, e.dtype(a.self), 4));
        }
        return build::transpose(e, pooled, build::to_channels_first(4));
    }

    using maxima_ops = joined<build::transpose_ops, build::crop_ops, ops<tosa::max_pool2d>>;
    static value maxima(emit<maxima_ops> e, const args<aten::max_pool2d>& a) {
        const value input = build::transpose(e, a.self, build::to_channels_last(4));
        auto windows = windows_of({a.kernel_size, a.stride, a.padding, a.dilation}, 2);
        if (!windows) return e.fail(std::move(windows).error());
        const auto fitted = build::fit_windows(
            e.shape(input), std::span(windows.value()).first(2), sizes(e.result_meta().shape).subspan(2));
        const value pooled = e.make<tosa::max_pool2d>({.input = build::crop(e, input, fitted.used),
            .kernel = int_list(fitted.kernel),
            .stride = int_list(fitted.stride),
            .pad = int_list(fitted.pad)});
        return build::transpose(e, pooled, build::to_channels_first(4));
    }
};
HEADRACE_COMPILED_PASS(legalize_pooling);

/// Lowers bmm to MATMUL (TOSA 1.0, 2.2.7), and linear to a CONV2D with a window of one element (2.2.3), which
/// includes the bias and is the operator that NPUs run best: rows become the image's height, features its
/// channels. Integers that are not quantized: MATMUL takes int8; for other dtypes, each row is multiplied by
/// each column and summed. Results of 8 and 16 bits wrap around, as in PyTorch; TOSA does not specify the
/// result of an INT32 overflow.
struct legalize_matmul : pass_in<legalization> {
    using runs_after = pass_list<decompose_matmul>;
    static constexpr std::string_view summary = "bmm to MATMUL, linear to CONV2D";

    static auto rewrites() {
        return rules(on<aten::bmm> = code<product>(), on<aten::linear> = code<layer>());
    }

private:
    using product_ops = joined<build::binary_ops<tosa::mul>, ops<tosa::matmul, tosa::cast, tosa::reduce_sum>>;
    static value product(emit<product_ops> e, const args<aten::bmm>& a) {
        const dtype type = e.dtype(a.self);
        if (!is_floating(type) && type != dtype::int8) return integer_product(e, a);
        // bfloat16 accumulates in float32 and is rounded only afterwards (spec 2.2.7).
        const dtype wide = type == dtype::bfloat16 ? dtype::float32
            : type == dtype::int8                  ? dtype::int32
                                                   : type;
        const value made = e.make<tosa::matmul>({.a = a.self,
            .b = a.mat2,
            .a_zp = build::zero_point(e, type),
            .b_zp = build::zero_point(e, e.dtype(a.mat2)),
            .output_type = wide});
        return build::cast_directly(e, made, type);
    }

    using layer_ops = joined<build::reshape_ops, ops<tosa::conv2d>>;
    static value layer(emit<layer_ops> e, const args<aten::linear>& a) {
        if (e.rank(a.weight) != 2)
            return e.unsupported("linear with a weight vector; give it a weight matrix");
        const value bias = a.bias ? *a.bias : e.splat(0, e.dtype(a.input), std::array{e.shape(a.weight)[0]});
        return build::reshape(e, build::linear(e, a, bias), e.result_meta().shape);
    }
    static value integer_product(emit<product_ops> e, const args<aten::bmm>& a) {
        const dtype type = e.dtype(a.self);
        if (type != dtype::int32 && type != dtype::int16)
            return e.unsupported(
                {"products of matrices of ", name_of(type), "; TOSA has none, cast them to int32"});
        const int_list rows = e.shape(a.self);
        const int_list columns = e.shape(a.mat2);
        const tensor_meta all{dtype::int32, {rows[0], rows[1], rows[2], columns[2]}, {}};
        if (all.elements() > max_products)
            return e.unsupported("a product of integer matrices that takes more than 2^24 multiplications");
        if (type == dtype::int16 && rows[2] > max_terms)
            return e.unsupported("a product of int16 matrices that adds up more than 2^16 numbers");
        const auto wide = [&](value v) { return build::cast_directly(e, v, dtype::int32); };
        const value products = build::binary<tosa::mul>(e,
            build::reshape(e, wide(a.self), std::array{rows[0], rows[1], rows[2], std::int64_t{1}}),
            build::reshape(e, wide(a.mat2), std::array{columns[0], std::int64_t{1}, columns[1], columns[2]}));
        // TOSA's sums must not overflow: for products of int16 the low bits are enough.
        const value sum =
            e.make<tosa::reduce_sum>({.input = wide(build::cast_directly(e, products, type)), .axis = 2});
        return build::reshape(e, build::cast_directly(e, sum, type), e.result_meta().shape);
    }
    // All products are in memory at once.
    static constexpr std::int64_t max_products = std::int64_t{1} << 24;
    static constexpr std::int64_t max_terms = std::int64_t{1} << 16;  // terms of 16 bits that sum within 32
};
HEADRACE_COMPILED_PASS(legalize_matmul);

/// Lowers upsampling to RESIZE (TOSA 1.0, 2.11.1).
struct legalize_resize : pass_in<legalization> {
    static constexpr std::string_view summary = "upsampling by nearest or linear interpolation to RESIZE";

    using made = build::resize_ops;
    using upsampling = joined<linear_ops, nearest_ops, nearest_exact_ops>;
    static auto rewrites() {
        return rules(on_each<upsampling> = code<made>([]<op_tag Op>(Op, emit<made> e, const args<Op>& a) {
            if (has_trait<Op>(trait::nearest) || is_floating(e.result_meta().dtype))
                return build::resize<Op>(e, a).image;
            return e.unsupported(
                "TOSA's RESIZE gives interpolated integers another type; interpolate floats");
        }));
    }
};
HEADRACE_COMPILED_PASS(legalize_resize);

}  // namespace headrace

#endif
