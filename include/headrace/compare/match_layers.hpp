// SPDX-License-Identifier: MIT
// Declares headrace::match_layers, which pairs the layers of two forms of a model.
#ifndef HEADRACE_COMPARE_MATCH_LAYERS_HPP
#define HEADRACE_COMPARE_MATCH_LAYERS_HPP

#include <cstddef>
#include <span>
#include <vector>

#include <headrace/compare/layer_values.hpp>

namespace headrace {

struct layer_match {
    std::size_t reference = 0;  ///< index among the layers of the reference
    std::size_t other = 0;      ///< and of the other model
};

/// Pairs the values of two forms of a model, such as the exported program and its quantized or lowered form;
/// each value has at most one counterpart. Programs of the same dialect are compared from their inputs on:
/// nodes of the same op that read matched values match, whatever their names, and nodes whose operands have
/// no counterpart match by op and name. A lowered model's values are found by the names that they inherit
/// from the exported nodes; the last value of a name is taken, since it is the layer's result. Outputs match
/// by position.
[[nodiscard]] std::vector<layer_match> match_layers(const graph& reference,
    std::span<const layer_value> layers_of_reference, const graph& other,
    std::span<const layer_value> layers_of_other);

}  // namespace headrace

#endif
