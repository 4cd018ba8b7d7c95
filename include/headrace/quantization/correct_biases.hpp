// SPDX-License-Identifier: MIT
// Defines headrace::correct_biases.
#ifndef HEADRACE_QUANTIZATION_CORRECT_BIASES_HPP
#define HEADRACE_QUANTIZATION_CORRECT_BIASES_HPP

#include <headrace/quantization/observe.hpp>

namespace headrace {

/// Bias correction (Nagel et al., Data-Free Quantization, arXiv:1906.04721, section 4.2, by samples): layer
/// by layer, in graph order, the bias of each channel gains the mean of what the quantized layer gives too
/// little over up to 32 samples. `real` is the prepared graph that `quantized` was made from. Layers without
/// a bias stay as they are. Returns how many layers were corrected.
[[nodiscard]] result<std::size_t> correct_biases(const graph& real, graph& quantized,
                                                 const sample_source& samples,
                                                 const parallel_for& in_parallel = run_serially);

}  // namespace headrace

#ifndef HEADRACE_COMPILED
#include <headrace/quantization/correct_biases_definition.hpp>
#endif

#endif
