// SPDX-License-Identifier: MIT
#include "lowering.hpp"

#include <headrace/passes/standard_lowering.hpp>

#include "constant_evaluator.hpp"
#include "legality.hpp"

namespace headrace::cli {

namespace {

using standard_pipeline = standard_lowering<constant_evaluator>;

// What no pass removed, and what the target does not allow: found before emission, all at once.
void report_illegal(graph& g, pass_context& context) {
    standard_pipeline::for_each_illegal(g, [&](node& n) {
        for (const diagnostic& known : context.diagnostics()) {
            if (known.node == origin_name(n)) return;  // the pass that refused it has said why
        }
        context.report(n, is<builtin::opaque>(n) ? "unknown op; Headrace has no lowering for it"
                                                 : "no pass lowers this op to TOSA");
    });
    if (!context.diagnostics().empty()) return;
    report_illegal_types(g, context);
}

}  // namespace

result<run_statistics> lower_graph(graph& g, pass_context& context, const run_options& options) {
    auto statistics = standard_pipeline::run(g, context, options);
    if (statistics) report_illegal(g, context);
    return statistics;
}

const pass_registry& standard_passes() {
    static const pass_registry registry(standard_pipeline::passes{});
    return registry;
}

operator_support lowering_support() { return supported_by<standard_pipeline>(); }

result<void> prepare_partition(graph& g, pass_context& context) {
    BOOST_OUTCOME_TRYV(apply_pass(inline_regions{}, g, context));
    BOOST_OUTCOME_TRYV(apply_pass(functionalize{}, g, context));
    return boost::outcome_v2::success();
}

pipeline_description describe_lowering() { return describe<standard_pipeline>(); }

}  // namespace headrace::cli
