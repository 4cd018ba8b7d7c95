// SPDX-License-Identifier: MIT
// Defines headrace::legalize_matmul.
#ifndef HEADRACE_PASSES_LEGALIZE_LEGALIZE_MATMUL_HPP
#define HEADRACE_PASSES_LEGALIZE_LEGALIZE_MATMUL_HPP

#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/casting.hpp>
#include <headrace/passes/support/convolution.hpp>

namespace headrace {

struct decompose_matmul;
/// Lowers bmm to MATMUL (TOSA 1.0, 2.2.7), and linear to a CONV2D with a window of one element (2.2.3), which
/// takes the bias along and is what NPUs run best: the rows are the image's height, the features its
/// channels.
struct legalize_matmul : pass {
    using phase = legalization;
    using runs_after = pass_list<decompose_matmul>;
    static constexpr std::string_view summary = "bmm to MATMUL, linear to CONV2D";
    using targeted_ops = ops<aten::bmm, aten::linear>;
    using produces = joined<build::reshape_ops, ops<tosa::matmul, tosa::conv2d, tosa::cast>>;

    value operator()(const args<aten::bmm>& a, emit<produces>& e) const {
        const dtype type = e.dtype(a.self);
        if (!is_floating(type))
            return e.unsupported("products of integer matrices; TOSA has only quantized ones");
        // bfloat16 accumulates in float32 and is rounded only then (spec 2.2.7).
        const dtype wide = type == dtype::bfloat16 ? dtype::float32 : type;
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
};
HEADRACE_COMPILED_PASS(legalize_matmul);

}  // namespace headrace

#endif
