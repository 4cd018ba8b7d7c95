// SPDX-License-Identifier: MIT
// Defines headrace::fold_quantization.
#ifndef HEADRACE_PASSES_QUANTIZE_FOLD_QUANTIZATION_HPP
#define HEADRACE_PASSES_QUANTIZE_FOLD_QUANTIZATION_HPP

#include <optional>
#include <string_view>

#include <headrace/passes/quantize/quantizer.hpp>

namespace headrace {

/// Rewrites q(dq(x)) to rescale(x), or to x if the parameters are equal. A quantize is hoisted past
/// everything that it commutes with until it meets its dequantize: ops that select elements, including joins
/// of several quantizations, and clamps, whose bounds are quantized.
struct fold_quantization : pass {
    static constexpr std::string_view summary = "q(dq(x)) = rescale(x), past ops that select elements";
    using targeted_ops = ops<quantized_decomposed::quantize_per_tensor>;
    using produces = quantizer_ops;

    std::optional<value> operator()(
        const args<quantized_decomposed::quantize_per_tensor>& a, emit<produces> e) const {
        const quantization to = quantization_of(a);
        quantizer quantized(e, to, a.dtype);
        return quantized.goes_past(a.input) ? std::optional(quantized(a.input)) : std::nullopt;
    }
};

}  // namespace headrace

#endif
