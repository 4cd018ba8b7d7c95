// SPDX-License-Identifier: MIT
// Declares how a pipeline runs when it answers for what its proof promises.
#ifndef HEADRACE_PASS_PIPELINE_RUN_HPP
#define HEADRACE_PASS_PIPELINE_RUN_HPP

#include <headrace/op/op.hpp>
#include <headrace/pass/pipeline_step.hpp>

namespace headrace::detail {

/// The two ends of a pipeline: may an op enter, and may it leave?
struct pipeline_ends {
    bool (*may_enter)(const op_info& op);
    bool (*may_leave)(const op_info& op);
};

/// Runs the steps over a graph that the proof covers. The error names every node whose op may not enter, and
/// then nothing has run, or every node that was refused or may not leave; all of them are in the context's
/// diagnostics, too.
[[nodiscard]] result<run_statistics> run_between(const pipeline_ends& ends, const pipeline_steps& steps,
                                                 graph& g, pass_context& context, const run_options& options);

}  // namespace headrace::detail

#ifndef HEADRACE_COMPILED
#include <headrace/pass/pipeline_run_definition.hpp>
#endif

#endif
