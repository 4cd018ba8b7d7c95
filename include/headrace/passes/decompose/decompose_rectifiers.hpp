// SPDX-License-Identifier: MIT
// Defines headrace::decompose_rectifiers.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_RECTIFIERS_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_RECTIFIERS_HPP

#include <headrace/infer/shape_builder.hpp>
#include <headrace/pass/arithmetic.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// Decomposes piecewise linear activations (PyTorch, torch.nn).
struct decompose_rectifiers : pass {
    using phase = function_decomposition;
    static constexpr std::string_view summary =
        "relu, hardtanh, hardswish, prelu and other piecewise linear functions";

    static auto rewrites() {
        return rules(
            on<aten::relu> = [](auto x) { return clamp(x, 0, {}); },
            on<aten::relu6> = [](auto x) { return clamp(x, 0, 6); },
            on<aten::hardtanh> =
                [](auto x, const auto& a) { return in_result_type(clamp(x, a.min_val, a.max_val)); },
            real_rules(
                on<aten::hardsigmoid> = [](auto x) { return clamp(x + 3, 0, 6) / 6; },
                on<aten::hardswish> = [](auto x) { return x * (clamp(x + 3, 0, 6) / 6); }),
            on<aten::leaky_relu> =
                [](auto x, const auto& a) { return where(x > 0, x, x * a.negative_slope.to_double()); },
            on<aten::_prelu_kernel> = [](auto x, auto slope) { return rectified(x, slope); },
            on<aten::prelu> =
                [](auto x, auto slope) {
                    return rectified(x, call<aten::view>(slope, along_channels(x.rank(), slope.meta())));
                },
            on<aten::threshold> =
                [](auto x, const auto& a) {
                    return where(x <= a.threshold.to_double(), a.value.to_double(), x);
                },
            on<aten::softshrink> = [](auto x,
                                       const auto& a) { return x - clamp(x, -a.lambd.to_double(), a.lambd); },
            on<aten::hardshrink> = [](auto x,
                                       const auto& a) { return where(abs(x) <= a.lambd.to_double(), 0, x); });
    }

private:
    static auto rectified(const auto& x, const auto& slope) {
        return in_result_type(where(x > 0, x, x * slope));
    }
    // A single slope, or one for each channel, which is axis 1.
    static shape_builder along_channels(std::size_t rank, const tensor_meta& slope) {
        shape_builder shape = shape_builder::filled(rank, 1);
        if (rank >= 2) shape[1] = slope.elements();
        return shape;
    }
};
HEADRACE_COMPILED_PASS(decompose_rectifiers);

}  // namespace headrace

#endif
