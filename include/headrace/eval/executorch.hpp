// SPDX-License-Identifier: MIT
// Declares what distinguishes the execution of ExecuTorch's kernels from that of their ATen ops.
#ifndef HEADRACE_EVAL_EXECUTORCH_HPP
#define HEADRACE_EVAL_EXECUTORCH_HPP

#include <headrace/base/result.hpp>
#include <headrace/eval/own_operators.hpp>
#include <headrace/ir/node.hpp>

namespace headrace::eval {

/// Returns the kernel of a node whose result differs from its op's; null if it is the same.
[[nodiscard]] evaluation_kernel deviating_kernel(const node& n);

/// Refuses nodes that ExecuTorch's runtime would refuse to execute.
[[nodiscard]] result<void> check_runtime_takes(const node& n);

}  // namespace headrace::eval

#endif
