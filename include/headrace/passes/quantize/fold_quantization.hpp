// SPDX-License-Identifier: MIT
// Defines headrace::fold_quantization.
#ifndef HEADRACE_PASSES_QUANTIZE_FOLD_QUANTIZATION_HPP
#define HEADRACE_PASSES_QUANTIZE_FOLD_QUANTIZATION_HPP

#include <headrace/passes/quantize/dequantized.hpp>

namespace headrace {

/// q(dq(x)) = rescale(x), and x where the parameters are the same. A quantize goes past everything that it
/// commutes with to meet its dequantize: what selects elements, joins of several quantizations among it, and
/// clamps, whose bounds are quantized.
struct fold_quantization : pass {
    using targets = ops<quantized_decomposed::quantize_per_tensor>;
    using produces = requantize_ops;

    std::optional<value> operator()(const args<quantized_decomposed::quantize_per_tensor>& a, auto& e) const {
        const auto to = quantization::per_tensor(a.scale, a.zero_point, a.quant_min, a.quant_max);
        quantizer quantized(e, to, a.dtype);
        return quantized.goes_past(a.input) ? std::optional(quantized(a.input)) : std::nullopt;
    }
};

}  // namespace headrace

#endif
