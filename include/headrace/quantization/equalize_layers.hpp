// SPDX-License-Identifier: MIT
// Defines headrace::equalize_layers.
#ifndef HEADRACE_QUANTIZATION_EQUALIZE_LAYERS_HPP
#define HEADRACE_QUANTIZATION_EQUALIZE_LAYERS_HPP

#include <headrace/base/result.hpp>
#include <headrace/dialect/aten.hpp>
#include <headrace/infer/aten.hpp>
#include <headrace/pass/pass.hpp>

namespace headrace {

/// Cross-layer equalization (Nagel et al., Data-Free Quantization, arXiv:1906.04721, section 4.1): channel i
/// between two layers is divided by s = √(r₁ / r₂), where r₁ and r₂ are the largest weights of that channel
/// in the first and the second layer, and the second layer's weights are multiplied by s. The result is
/// unchanged as long as the ops in between commute with positive factors per channel. Repeats over all pairs
/// until nothing changes, so that chains with depthwise layers are equalized, too.
struct equalize_layers : pass {
    static constexpr std::string_view summary =
        "scales channels between two layers so that their weights are equally large in both";
    using produces = ops<>;

    result<std::size_t> operator()(graph& g, pass_context&) const;
};
HEADRACE_COMPILED_PASS(equalize_layers);

}  // namespace headrace

#endif
