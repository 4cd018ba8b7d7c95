// SPDX-License-Identifier: MIT
// Declares headrace::mix_precision, which chooses the nodes that are worth 16 bits.
#ifndef HEADRACE_QUANTIZATION_MIX_PRECISION_HPP
#define HEADRACE_QUANTIZATION_MIX_PRECISION_HPP

#include <functional>

#include <headrace/base/result.hpp>
#include <headrace/quantization/quantize_graph.hpp>

namespace headrace {

/// Chooses between int8 and int16 activations by sensitivity, without gradients (as Pandey et al.,
/// arXiv:2302.05397, rank by the SQNR at the outputs): with all activations in int16, each exported node is
/// switched to 8 bits alone. Nodes with the least cost per element stay in 8 bits, until at most `share` (0
/// to 1) of the elements that nodes compute have 16 bits. If that is no better than 8 bits everywhere,
/// returns `base` unchanged.
///
/// The result is `base` preceded by a rule for each node with int16; the rules of `base` come after these and
/// override them. `infer` is for the passes that prepare the graph. Once `goes_on` returns false, the nodes
/// not yet tried stay in 8 bits.
[[nodiscard]] result<quantization_config> mix_precision(const graph& g, const quantization_config& base,
    double share, const sample_source& samples, pass_context::node_inference infer,
    const parallel_for& in_parallel, const std::function<bool()>& goes_on);

}  // namespace headrace

#endif
