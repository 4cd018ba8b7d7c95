// SPDX-License-Identifier: MIT
// Declares headrace::softmax_chain, the operators that compute a softmax in a program.
#ifndef HEADRACE_COMPARE_SOFTMAX_CHAIN_HPP
#define HEADRACE_COMPARE_SOFTMAX_CHAIN_HPP

#include <optional>
#include <vector>

#include <headrace/eval/tensor.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace {

/// The float operand of a softmax along the last axis that a program computes with several operators, which
/// may be quantized: the product of p = exp(x - max(x)) and 1 / sum(p).
struct softmax_chain {
    value operand;
};

/// Returns the softmax that a product, or quotient, completes; nothing if it is another computation.
[[nodiscard]] std::optional<softmax_chain> softmax_completed_by(const node& product);

/// Returns the softmax of real numbers along the last axis.
[[nodiscard]] std::vector<double> softmax_along_rows(const tensor& x);

/// True if an integer kernel for a whole softmax computes the node's result, be it with a table after it.
[[nodiscard]] bool is_by_softmax_kernel(const node& n);

}  // namespace headrace

#endif
