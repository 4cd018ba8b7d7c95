// SPDX-License-Identifier: MIT
// Defines the requirements of ExecuTorch's kernels on their arguments, beyond those of PyTorch's ops.
#ifndef HEADRACE_INFER_EXECUTORCH_HPP
#define HEADRACE_INFER_EXECUTORCH_HPP

#include <cstddef>
#include <string>

#include <boost/mp11/algorithm.hpp>

#include <headrace/base/result.hpp>
#include <headrace/dialect/executorch.hpp>
#include <headrace/infer/inference.hpp>
#include <headrace/ir/node.hpp>

namespace headrace::executorch {

// The checks follow the kernels' sources, version 1.5 (kernels/portable/cpu, kernels/optimized/cpu and
// kernels/quantized/cpu). A kernel whose check fails ends the method with an error, or aborts the process.

/// Infers the results of the op that a kernel computes; refuses arguments that the kernel refuses. `number`
/// is the kernel's index in `kernels`.
[[nodiscard]] result<void> infer_kernel(std::size_t number, const void* arguments, inference& out);

template <class Op, fixed_string Name, kernel_types Types>
result<void> infer_results(kernel<Op, Name, Types>, const headrace::args<Op>& a, inference& out) {
    return infer_kernel(boost::mp11::mp_find<kernels, kernel<Op, Name, Types>>::value, &a, out);
}

/// Returns the reason why the kernel for a node's op refuses it; empty if it does not. The node is of the
/// executorch dialect, or of the op that the kernel computes.
[[nodiscard]] std::pmr::string kernel_refusal(const node& n);

/// Describes how the kernel's results differ from PyTorch's for some operand values; empty if they do not.
[[nodiscard]] std::pmr::string kernel_deviation(const node& n);

}  // namespace headrace::executorch

#ifndef HEADRACE_COMPILED
#include <headrace/infer/executorch_definition.hpp>
#endif

#endif
