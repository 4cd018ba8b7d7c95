// SPDX-License-Identifier: MIT
// Declares headrace::partition_by_pipeline, which lowers the parts of a graph that a pipeline takes.
#ifndef HEADRACE_OPT_PARTITION_BY_PIPELINE_HPP
#define HEADRACE_OPT_PARTITION_BY_PIPELINE_HPP

#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/opt/opt_main.hpp>
#include <headrace/partition/trial_partitioner.hpp>
#include <headrace/pass/pipeline_step.hpp>

namespace headrace {

/// Replaces the largest parts that the pipeline can lower by calls (delegate.call_delegate) of lowered
/// graphs, whose backend is the pipeline's name. Returns the nodes that stay on the host, each with the
/// reason.
[[nodiscard]] result<std::vector<host_node>> partition_by_pipeline(
    const opt_program& own, const opt_pipeline& pipeline, graph& g, const run_options& options = {});

}  // namespace headrace

#endif
