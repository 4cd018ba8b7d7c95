// SPDX-License-Identifier: MIT
// Declares headrace::prove::pull_back, which says how the operands of a node move its results.
#ifndef HEADRACE_PROVE_GRADIENT_HPP
#define HEADRACE_PROVE_GRADIENT_HPP

#include <cstddef>
#include <span>
#include <vector>

#include <headrace/eval/tensor.hpp>
#include <headrace/ir/node.hpp>

namespace headrace::prove {

/// Numbers for the elements of a tensor; empty if all are 0.
using element_weights = std::vector<double>;

/// Returns, for each operand, the derivative of the sum of a TOSA node's results times `weights`, by its
/// elements: a direction, for a search. Steps are smoothed, saturation is ignored, and ops that no search
/// gets through have none.
[[nodiscard]] std::vector<element_weights> pull_back(
    const node& n, std::span<const eval::tensor> operands, const element_weights& weights);

namespace detail {
/// Likewise for convolutions, MATMUL and poolings; false if the node is none.
[[nodiscard]] bool pull_back_product(const node& n, std::span<const eval::tensor> operands,
    const element_weights& weights, std::vector<element_weights>& out);
}  // namespace detail

}  // namespace headrace::prove

#endif
