// SPDX-License-Identifier: MIT
// Defines the functions of headrace/lowering/cortex_m_pipeline.hpp.

#include <headrace/lowering/cortex_m_pipeline.hpp>

#include <headrace/passes/cortex_m_lowering.hpp>
#include <headrace/passes/passes.hpp>
#include <headrace/run/execution.hpp>

namespace headrace {

result<run_statistics> run_cortex_m_pipeline(graph& g, pass_context& context, const run_options& options) {
    HEADRACE_TRY(check_evaluator(context));
    return cortex_m_lowering::run_unchecked(g, context, options);
}

}  // namespace headrace
