// SPDX-License-Identifier: MIT
// Declares headrace::correct_biases, which compensates the mean error of quantized layers.
#ifndef HEADRACE_QUANTIZATION_CORRECT_BIASES_HPP
#define HEADRACE_QUANTIZATION_CORRECT_BIASES_HPP

#include <functional>

#include <headrace/base/result.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/quantization/annotate.hpp>
#include <headrace/quantization/observers/observe.hpp>

namespace headrace {

/// Bias correction (Nagel et al., Data-Free Quantization, arXiv:1906.04721, section 4.2, by samples): layer
/// by layer, in graph order, each channel's bias is raised by the mean shortfall of the quantized layer over
/// up to 32 samples. `real` is the prepared graph that `quantized` was made from. Layers without a bias are
/// left unchanged, and those of `real` that are not chosen. Returns the number of layers corrected.
[[nodiscard]] result<std::size_t> correct_biases(const graph& real, graph& quantized,
    const sample_source& samples, const parallel_for& in_parallel = run_serially,
    const std::function<bool(const node&)>& is_chosen = is_weighted_layer);

}  // namespace headrace

#endif
