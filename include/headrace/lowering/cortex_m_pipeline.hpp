// SPDX-License-Identifier: MIT
// Declares headrace::run_cortex_m_pipeline, which lowers quantized programs to ExecuTorch's kernels for
// Cortex-M.
#ifndef HEADRACE_LOWERING_CORTEX_M_PIPELINE_HPP
#define HEADRACE_LOWERING_CORTEX_M_PIPELINE_HPP

#include <headrace/base/result.hpp>
#include <headrace/pass/pass_registry.hpp>

namespace headrace {

/// Lowers a graph of TOSA, as run_standard_pipeline leaves it for the target INT+core, to the cortex_m
/// dialect and ATen ops on integers that run_executorch_pipeline takes. Nodes without such a kernel are in
/// the context's diagnostics. The context must have an evaluator, as one of headrace::standard_functions has.
[[nodiscard]] result<run_statistics> run_cortex_m_pipeline(
    graph& g, pass_context& context, const run_options& options = {});

}  // namespace headrace

#endif
