// SPDX-License-Identifier: MIT
// Defines headrace::legalize_matmul.
#ifndef HEADRACE_PASSES_LEGALIZE_LEGALIZE_MATMUL_HPP
#define HEADRACE_PASSES_LEGALIZE_LEGALIZE_MATMUL_HPP

#include <array>
#include <cstdint>
#include <memory_resource>
#include <string>

#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/casting.hpp>
#include <headrace/passes/support/convolution.hpp>

namespace headrace {

struct decompose_matmul;
/// Lowers bmm to MATMUL (TOSA 1.0, 2.2.7), and linear to a CONV2D with a window of one element (2.2.3), which
/// includes the bias and is the operator that NPUs run best: rows become the image's height, features its
/// channels. Integers that are not quantized: MATMUL takes int8; for other dtypes, each row is multiplied by
/// each column and summed. Results of 8 and 16 bits wrap around, as in PyTorch; TOSA does not specify the
/// result of an INT32 overflow.
struct legalize_matmul : pass {
    using phase = legalization;
    using runs_after = pass_list<decompose_matmul>;
    static constexpr std::string_view summary = "bmm to MATMUL, linear to CONV2D";
    using targeted_ops = ops<aten::bmm, aten::linear>;
    using produces = joined<build::reshape_ops, build::binary_ops<tosa::mul>,
        ops<tosa::matmul, tosa::conv2d, tosa::cast, tosa::reduce_sum>>;

    value operator()(const args<aten::bmm>& a, emit<produces>& e) const {
        const dtype type = e.dtype(a.self);
        if (!is_floating(type) && type != dtype::int8) return integer_product(a, e);
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

    value operator()(const args<aten::linear>& a, emit<produces>& e) const {
        if (e.rank(a.weight) != 2)
            return e.unsupported("linear with a weight vector; give it a weight matrix");
        const value bias = a.bias ? *a.bias : e.splat(0, e.dtype(a.input), std::array{e.shape(a.weight)[0]});
        return build::reshape(e, build::linear(e, a, bias), e.result_meta().shape);
    }

private:
    static value integer_product(const args<aten::bmm>& a, emit<produces>& e) {
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

}  // namespace headrace

#endif
