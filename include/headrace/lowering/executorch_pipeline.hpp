// SPDX-License-Identifier: MIT
// Declares headrace::run_executorch_pipeline, which lowers exported programs to the kernels of ExecuTorch's
// runtime.
#ifndef HEADRACE_LOWERING_EXECUTORCH_PIPELINE_HPP
#define HEADRACE_LOWERING_EXECUTORCH_PIPELINE_HPP

#include <headrace/base/result.hpp>
#include <headrace/partition/operator_support.hpp>
#include <headrace/pass/pass_registry.hpp>

namespace headrace {

/// Lowers a graph to the executorch dialect. All nodes for which the runtime has no kernel are in the
/// context's diagnostics. The context must have an evaluator, as one of headrace::standard_functions has.
[[nodiscard]] result<run_statistics> run_executorch_pipeline(
    graph& g, pass_context& context, const run_options& options = {});

/// Returns the nodes whose op provably becomes kernels.
[[nodiscard]] operator_support executorch_support();

}  // namespace headrace

#endif
