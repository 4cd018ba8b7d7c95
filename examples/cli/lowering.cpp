// SPDX-License-Identifier: MIT
#include "lowering.hpp"

#include <headrace/infer/tosa_verify.hpp>
#include <headrace/passes/float_lowering.hpp>

#include "constant_evaluator.hpp"

namespace headrace::cli {

namespace {

using standard_pipeline = float_lowering<constant_evaluator>;

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
    detail::for_each_graph(g, [&](graph& sub) {
        for (const node& n : sub.nodes()) {
            auto legal = verify_tosa(n, g.target());
            if (legal) continue;
            std::string reason = std::move(legal).error().message;
            const std::string prefix = message_prefix(n);
            context.report(n, reason.starts_with(prefix) ? reason.substr(prefix.size()) : reason);
        }
    });
}

}  // namespace

result<run_statistics> lower_graph(graph& g, pass_context& context, const run_options& options) {
    auto statistics = standard_pipeline::run(g, context, options);
    if (statistics) report_illegal(g, context);
    return statistics;
}

pipeline_description describe_lowering() { return describe<standard_pipeline>(); }

}  // namespace headrace::cli
