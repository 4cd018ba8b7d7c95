// SPDX-License-Identifier: MIT
// Declares headrace::quantize_graph, which makes a quantized graph from a float graph and samples.
#ifndef HEADRACE_QUANTIZATION_QUANTIZE_GRAPH_HPP
#define HEADRACE_QUANTIZATION_QUANTIZE_GRAPH_HPP

#include <headrace/base/result.hpp>
#include <headrace/quantization/convert.hpp>
#include <headrace/quantization/observers/observe.hpp>
#include <headrace/quantization/quantization_config.hpp>
#include <headrace/rewrite/pass_context.hpp>

namespace headrace {

/// Tells prepare_quantization which layers it may merge: none of different rules, and no sum whose weights
/// lose much more than those of its parts in the bits that they get.
void plan_merges(graph& g, const quantization_config& config);

/// Brings a float graph into the form in which it is quantized: variants canonicalized, norms folded, linear
/// layers merged, functions expanded into steps, infinities among scores turned into masks, numbers into
/// constants, and each constant given a single reader. Returns the result of mask_scores, which may need
/// samples.
[[nodiscard]] result<std::vector<value>> prepare_quantization(graph& g, pass_context& context,
    const sample_source& samples = {}, const parallel_for& in_parallel = run_serially);

/// Post-training static quantization (PyTorch's PT2E with ExecuTorch's quantizer for TOSA): prepares the
/// graph, decides what is quantized, finds ranges by running the graph on the samples, and inserts quantize
/// and dequantize nodes of the quantized_decomposed dialect, which the lowering accepts. Inputs and outputs
/// keep their dtypes.
[[nodiscard]] result<quantization_summary> quantize_graph(graph& g, pass_context& context,
    const quantization_config& config, const sample_source& samples,
    const parallel_for& in_parallel = run_serially);

}  // namespace headrace

#endif
