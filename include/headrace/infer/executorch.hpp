// SPDX-License-Identifier: MIT
// Defines what the kernels of ExecuTorch's runtime ask of their arguments, beyond what PyTorch's ops ask.
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

// The checks are those of the kernels' sources, version 1.5 (kernels/portable/cpu, kernels/optimized/cpu and
// kernels/quantized/cpu): a kernel whose check fails ends the method with an error, or the process.

/// Infers what the op that a kernel computes gives; refuses arguments that the kernel refuses. `number` is
/// that of the kernel in `kernels`.
[[nodiscard]] result<void> infer_kernel(std::size_t number, const void* arguments, inference& out);

template <class Op, fixed_string Name, kernel_types Types>
result<void> infer_results(kernel<Op, Name, Types>, const headrace::args<Op>& a, inference& out) {
    return infer_kernel(boost::mp11::mp_find<kernels, kernel<Op, Name, Types>>::value, &a, out);
}

/// Why the kernel for a node's op refuses it; empty if it takes it. The node is one of the executorch
/// dialect, or of the op that the kernel computes.
[[nodiscard]] std::pmr::string kernel_refusal(const node& n);

/// How the kernel's results differ from PyTorch's for some values of the operands; empty if they do not.
[[nodiscard]] std::pmr::string kernel_deviation(const node& n);

}  // namespace headrace::executorch

#ifndef HEADRACE_COMPILED
#include <headrace/infer/executorch_definition.hpp>
#endif

#endif
