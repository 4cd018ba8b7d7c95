// SPDX-License-Identifier: MIT
// Declares headrace::match_values, which pairs layers of a model without names by what they compute.
#ifndef HEADRACE_COMPARE_MATCH_VALUES_HPP
#define HEADRACE_COMPARE_MATCH_VALUES_HPP

#include <span>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/compare/layer_values.hpp>
#include <headrace/compare/match_layers.hpp>
#include <headrace/eval/tensor.hpp>

namespace headrace {

/// True if the graph is of a `.pte` file, whose values have no names: it has kernels of ExecuTorch's runtime.
[[nodiscard]] bool is_kernel_graph(const graph& g);

/// True if the graph, or one nested in it, has integer kernels for Cortex-M.
[[nodiscard]] bool has_integer_kernels(const graph& g);

/// Adds pairs for layers without a counterpart in `known`: those whose numbers, for the reference's inputs,
/// are alike but for a scale, an offset and the order of the axes. Both models have paired layers in the same
/// order; the list with the most alike pairs is taken. The result is in the order of the reference.
[[nodiscard]] result<std::vector<layer_match>> match_values(const graph& reference,
    std::span<const layer_value> layers_of_reference, const graph& other,
    std::span<const layer_value> layers_of_other, std::vector<layer_match> known,
    std::span<const tensor> inputs);

}  // namespace headrace

#endif
