// SPDX-License-Identifier: MIT
// Declares headrace::prove::lost_constants, which finds infinities that a quantized range cannot hold.
#ifndef HEADRACE_PROVE_LOST_CONSTANTS_HPP
#define HEADRACE_PROVE_LOST_CONSTANTS_HPP

#include <string>
#include <vector>

#include <headrace/ir/graph.hpp>

namespace headrace::prove {

/// Returns a warning for each constant of an exported quantized graph that is far outside of the range of the
/// quantize_per_tensor that it reaches, such as the minus infinity of an attention mask, which saturates and
/// loses its meaning: "net.py:42: masked_fill: -inf is outside of the quantized range […] and becomes …".
/// Numbers are followed through ops that move or select them, and through sums with other tensors.
[[nodiscard]] std::vector<std::string> lost_constants(const graph& g);

}  // namespace headrace::prove

#endif
