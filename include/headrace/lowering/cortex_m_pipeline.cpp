// SPDX-License-Identifier: MIT
// Defines the functions of headrace/lowering/cortex_m_pipeline.hpp.

#include <headrace/lowering/cortex_m_pipeline.hpp>

#include <headrace/passes/cortex_m_lowering.hpp>
#include <headrace/passes/executorch_lowering.hpp>
#include <headrace/passes/passes.hpp>
#include <headrace/run/execution.hpp>

namespace headrace {

// The three pipelines prove together that exported programs become kernels: ops that may leave one may enter
// the next. Graphs hold TOSA's CONST as constants.
static_assert(
    every_op<tosa::dialect> - ops_in<tosa::const_> <= detail::boundary<cortex_m_lowering::source>::set);
static_assert(
    detail::boundary<cortex_m_lowering::legal>::set <= detail::boundary<executorch_lowering::source>::set);

result<run_statistics> run_cortex_m_pipeline(graph& g, pass_context& context, const run_options& options) {
    HEADRACE_TRY(check_evaluator(context));
    return cortex_m_lowering::run_unchecked(g, context, options);
}

}  // namespace headrace
