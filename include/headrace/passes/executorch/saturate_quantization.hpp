// SPDX-License-Identifier: MIT
// Defines headrace::saturate_quantization.
#ifndef HEADRACE_PASSES_EXECUTORCH_SATURATE_QUANTIZATION_HPP
#define HEADRACE_PASSES_EXECUTORCH_SATURATE_QUANTIZATION_HPP

#include <cstdint>
#include <optional>
#include <string_view>

#include <headrace/dialect/aten.hpp>
#include <headrace/infer/aten.hpp>
#include <headrace/infer/quantized_decomposed.hpp>
#include <headrace/op/op_set.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// Clamps values before quantization if they may be infinite. ExecuTorch's kernel converts to int32 before it
/// clamps, so that infinity becomes the lowest number (measured with ExecuTorch 1.5.1).
struct saturate_quantization : pass {
    using runs_after = pass_list<functional, canonical_variants>;
    static constexpr std::string_view summary =
        "clamps values that may be infinite before they are quantized";
    using unbounded = ops<aten::rsqrt, aten::reciprocal, aten::log, aten::log2, aten::log10, aten::log1p,
        aten::exp, aten::expm1, aten::cosh, aten::sinh, aten::tan, aten::div_tensor, aten::div_scalar,
        aten::pow_scalar, aten::pow_tensor_scalar, aten::pow_tensor_tensor, aten::atanh, aten::logit>;
    using targeted_ops = ops<quantized_decomposed::quantize_per_tensor>;
    using produces = ops<quantized_decomposed::quantize_per_tensor, aten::clamp>;

    std::optional<value> operator()(
        const args<quantized_decomposed::quantize_per_tensor>& a, emit<produces>& e) const {
        if (!set_of<unbounded>.contains(*a.input.producer->op)) return std::nullopt;
        // One step beyond the ends, so that the quantizer still does the rounding.
        const auto real = [&](std::int64_t q) { return static_cast<double>(q - a.zero_point) * a.scale; };
        args<quantized_decomposed::quantize_per_tensor> limited = a;
        limited.input = e.make<aten::clamp>(
            {.self = a.input, .min = scalar(real(a.quant_min - 1)), .max = scalar(real(a.quant_max + 1))});
        return e.make<quantized_decomposed::quantize_per_tensor>(limited);
    }
};
HEADRACE_COMPILED_PASS(saturate_quantization);

}  // namespace headrace

#endif
