// SPDX-License-Identifier: MIT
// Declares the run of a pipeline that checks the ops at both ends.
#ifndef HEADRACE_PASS_PIPELINE_RUN_HPP
#define HEADRACE_PASS_PIPELINE_RUN_HPP

#include <headrace/op/op.hpp>
#include <headrace/pass/pipeline_step.hpp>

namespace headrace::detail {

/// The checks at the two ends of a pipeline: true if an op may enter, and if it may leave.
struct pipeline_ends {
    bool (*may_enter)(const op_info& op);
    bool (*may_leave)(const op_info& op);
};

/// Runs the steps on a graph that the proof covers. The error names every node whose op may not enter, in
/// which case nothing has run, or every node that was refused or may not leave; the context's diagnostics
/// list all of them, too.
[[nodiscard]] result<run_statistics> run_between(const pipeline_ends& ends, const pipeline_steps& steps,
    graph& g, pass_context& context, const run_options& options);

}  // namespace headrace::detail

#ifndef HEADRACE_COMPILED
#include <headrace/pass/pipeline_run_definition.hpp>
#endif

#endif
