// SPDX-License-Identifier: MIT
// Declares headrace::mix_precision, which finds out what is worth 16 bits.
#ifndef HEADRACE_QUANTIZATION_MIX_PRECISION_HPP
#define HEADRACE_QUANTIZATION_MIX_PRECISION_HPP

#include <functional>

#include <headrace/quantization/quantize_graph.hpp>

namespace headrace {

/// Mixed int8 and int16 activations by sensitivity, without gradients (as Pandey et al., arXiv:2302.05397,
/// rank by the SQNR at the outputs): with all activations in int16, each exported node is brought to 8 bits
/// alone. Those that cost least for an element go to 8 bits, until at most `share` of the elements that
/// nodes compute, between 0 and 1, have 16. Where that is no better than all in 8 bits, the configuration
/// comes back as it was given.
///
/// The result is `base` with a rule for each node with int16; the rules of `base` come behind and hold.
/// `infer` is for the passes that prepare the graph. Once `goes_on` says no, nodes that were not tried are
/// left in 8 bits.
[[nodiscard]] result<quantization_config> mix_precision(const graph& g, const quantization_config& base,
                                                        double share, const sample_source& samples,
                                                        pass_context::node_inference infer,
                                                        const parallel_for& in_parallel,
                                                        const std::function<bool()>& goes_on);

}  // namespace headrace

#ifndef HEADRACE_COMPILED
#include <headrace/quantization/mix_precision_definition.hpp>
#endif

#endif
