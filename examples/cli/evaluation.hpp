// SPDX-License-Identifier: MIT
// Execution on the CPU behind functions, so that one translation unit compiles all kernels.
#ifndef HEADRACE_EXAMPLES_CLI_EVALUATION_HPP
#define HEADRACE_EXAMPLES_CLI_EVALUATION_HPP

#include <vector>

#include <headrace/base/error.hpp>
#include <headrace/eval/tensor.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace {
struct memory_plan;
}

namespace headrace::cli {

[[nodiscard]] result<std::vector<tensor>> execute(const graph& g, std::span<const tensor> inputs);

/// The same in the memory of a plan, which must count in `executed_bytes`.
[[nodiscard]] result<std::vector<tensor>> execute_planned(const graph& g, const memory_plan& plan,
                                                          std::span<const tensor> inputs);
/// Bytes of a tensor during execution.
[[nodiscard]] std::uint64_t executed_bytes(const tensor_meta& meta);

/// Does the metadata of each node say what its op gives? Files may claim anything.
[[nodiscard]] result<void> check_metadata(const graph& g);

/// The largest difference between two sets of outputs, beyond what is granted to each, against 1 + its own
/// magnitude; NaN equals NaN. Infinite where the shapes differ.
[[nodiscard]] double difference(std::span<const tensor> a, std::span<const tensor> b,
                                std::span<const double> granted = {});

}  // namespace headrace::cli

#endif
