// SPDX-License-Identifier: MIT
// Defines the functions of headrace/opt/partition_by_pipeline.hpp.

#include <headrace/opt/partition_by_pipeline.hpp>

#include <string>
#include <utility>
#include <vector>

#include <headrace/base/text.hpp>
#include <headrace/dialect/delegate.hpp>
#include <headrace/eval/fold.hpp>
#include <headrace/partition/fuse_partitions.hpp>
#include <headrace/run/execution.hpp>

namespace headrace {

namespace {

// Runs the passes. Nodes that may not be left are refused in the context.
result<void> lower_part(
    const opt_pipeline& pipeline, graph& part, pass_context& context, const run_options& options) {
    HEADRACE_TRY(pass_manager(pipeline.passes, {.run = options})(part, context));
    if (!context.diagnostics().empty()) return {};
    for (const node* n : pipeline.illegal_nodes(part))
        context.report(*n, text_of({"no pass of ", pipeline.name, " takes it"}));
    return {};
}

}  // namespace

result<std::vector<host_node>> partition_by_pipeline(
    const opt_program& own, const opt_pipeline& pipeline, graph& g, const run_options& options) {
    HEADRACE_TRY(make_functional(g));
    const node_functions functions{own.infer, &eval::folding};
    const trial_partitioner partitioner(
        create_op_support(pipeline.supports),
        [&](graph& part, pass_context& context) { return lower_part(pipeline, part, context, options); },
        {.allows_single_node_partition = true}, functions);
    HEADRACE_TRY(found, partitioner.propose_partitions(g));
    HEADRACE_TRY(calls, fuse_partitions(g, found.partitions, pipeline.name));
    for (const node* call : calls) {
        pass_context context(functions);
        HEADRACE_TRY(
            lower_part(pipeline, *args_of<delegate::call_delegate>(*call).lowered_graph, context, options));
        if (!context.diagnostics().empty())
            return error{error_kind::unsupported, diagnostic_text(context.diagnostics().front())};
    }
    return std::move(found.host);
}

}  // namespace headrace
