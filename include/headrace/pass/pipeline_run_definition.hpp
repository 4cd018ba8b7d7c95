// SPDX-License-Identifier: MIT
// Defines the function of pass/pipeline_run.hpp.
#ifndef HEADRACE_PASS_PIPELINE_RUN_DEFINITION_HPP
#define HEADRACE_PASS_PIPELINE_RUN_DEFINITION_HPP

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include <headrace/base/compiled.hpp>
#include <headrace/ir/opaque_text.hpp>
#include <headrace/ir/purity.hpp>
#include <headrace/ir/regions.hpp>
#include <headrace/rewrite/pass_context.hpp>

namespace headrace::detail {

/// Erases unused nodes: no result depends on them, so a pipeline need not support their ops.
inline void erase_unused(graph& g) {
    for (node* n = g.last(); n != nullptr;) {
        node* const previous = n->previous;
        const bool is_end = is<builtin::placeholder>(*n) || is<builtin::output>(*n);
        if (n->first_use == nullptr && !is_end && !has_effects(*n)) g.erase(*n);
        n = previous;
    }
}

inline bool is_about(const diagnostic& d, const node& n) {
    const auto* origin = n.find_annotation<provenance>();
    return d.node == origin_name(n) && d.op == (origin != nullptr ? origin->op_name : op_name(n));
}

/// True if all ops of a graph and its regions are allowed. Other nodes are reported, unless a pass has
/// refused them with its own reason, in a diagnostic from `known` on.
inline bool check_ops(graph& g, pass_context& context, bool (*is_allowed)(const op_info&), std::size_t known,
    std::string_view reason) {
    const auto has_other = [&] {
        bool found = false;
        for_each_graph(g, [&](graph& sub) {
            for (const node& n : sub.nodes()) found = found || !is_allowed(*n.op);
        });
        return found;
    };
    if (!has_other()) return true;
    if (g.output() != nullptr) {
        for_each_graph(g, [](graph& sub) { erase_unused(sub); });
        if (!has_other()) return true;
    }
    const std::size_t refused = context.diagnostics().size();
    for_each_graph(g, [&](graph& sub) {
        for (const node& n : sub.nodes()) {
            bool is_known = is_allowed(*n.op);
            for (std::size_t i = known; i != refused && !is_known; ++i)
                is_known = is_about(context.diagnostics()[i], n);
            if (!is_known) context.report(n, reason);
        }
    });
    return false;
}

/// Returns all diagnostics from `known` on, as one error.
[[gnu::cold, gnu::noinline]] inline error joined_diagnostics(const pass_context& context, std::size_t known) {
    const auto& all = context.diagnostics();
    if (known == all.size()) known = 0;  // an earlier run has reported them
    error joined{all[known].kind, {}};
    for (std::size_t i = known; i != all.size(); ++i) {
        joined.message += i == known ? "the pipeline refuses the graph: " : "; ";
        joined.message += diagnostic_text(all[i]);
    }
    return joined;
}

HEADRACE_INLINE result<run_statistics> run_between(const pipeline_ends& ends, const pipeline_steps& steps,
    graph& g, pass_context& context, const run_options& options) {
    const std::size_t known = context.diagnostics().size();
    if (!check_ops(g, context, ends.may_enter, known,
            "the pipeline is not proven for this op; add it to `from<...>`, or rewrite it before"))
        return joined_diagnostics(context, known);
    HEADRACE_TRY(statistics, steps.run(g, context, options));
    const bool is_legal =
        check_ops(g, context, ends.may_leave, known, "no pass of the pipeline has rewritten this op");
    if (!is_legal || context.diagnostics().size() != known) return joined_diagnostics(context, known);
    return statistics;
}

}  // namespace headrace::detail

#endif
