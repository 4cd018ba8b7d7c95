// SPDX-License-Identifier: MIT
// Defines headrace::fold_weights.
#ifndef HEADRACE_QUANTIZATION_FOLD_WEIGHTS_HPP
#define HEADRACE_QUANTIZATION_FOLD_WEIGHTS_HPP

#include <cstddef>
#include <string_view>

#include <headrace/base/result.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/quantization/fold_batch_norms.hpp>

namespace headrace {

/// Computes weights that a model derives from constants, by weight_norm, a scale or a merged adapter, so that
/// they are quantized as weights, with a scale per channel. Other constant subgraphs are left as they are.
struct fold_weights : pass {
    static constexpr std::string_view summary = "computes weights and biases that are derived from constants";
    using layers = joined<fold_batch_norms::layers, ops<aten::convolution>>;
    using produces = ops<builtin::constant>;

    result<std::size_t> operator()(graph& g, pass_context&) const;
};
HEADRACE_COMPILED_PASS(fold_weights);

}  // namespace headrace

#endif
