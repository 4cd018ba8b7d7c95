// SPDX-License-Identifier: MIT
// Defines headrace::report_unlowered and report_illegal, the last checks before emission, which report the
// nodes that the target does not take.
#ifndef HEADRACE_LOWERING_LEGALITY_HPP
#define HEADRACE_LOWERING_LEGALITY_HPP

#include <string_view>
#include <unordered_set>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/ir/regions.hpp>
#include <headrace/ir/unknown_op.hpp>
#include <headrace/rewrite/pass_context.hpp>
#include <headrace/target/tosa_verify.hpp>

namespace headrace {

/// Reports each node of a TOSA graph whose types, sizes or constants the graph's target does not allow.
void report_illegal_types(graph& g, pass_context& context);

/// Reports each node that is left after a pipeline and may not be, with a reason: no `lacking` ("lowering",
/// "kernel") for an op that no dialect has, or `illegal`.
template <class Pipeline>
void report_unlowered(graph& g, pass_context& context, std::string_view lacking, std::string_view illegal) {
    std::pmr::unordered_set<std::pmr::string> refused;
    for (const diagnostic& d : context.diagnostics()) refused.insert(d.node);
    const bool refused_some = !refused.empty();
    Pipeline::for_each_illegal(g, [&](node& n) {
        // The pass that refused it has given the reason.
        if (!refused.insert(std::pmr::string(origin_name(n))).second) return;
        // So has it for these: complex numbers are left only beside a node that was refused.
        if (refused_some && !is<builtin::opaque>(n) && is_of_complex_numbers(n)) return;
        const bool known = !is<builtin::opaque>(n) && !is_of_dynamic_quantization(n);
        context.report(n, known ? std::pmr::string(illegal) : unknown_op_reason(n, lacking));
    });
}

/// Reports each node that is left after a pipeline and is not TOSA; if there is none, each node that the
/// target does not take.
template <class Pipeline>
void report_illegal(graph& g, pass_context& context) {
    report_unlowered<Pipeline>(g, context, "lowering", "no pass lowers this op to TOSA");
    if (context.diagnostics().empty()) report_illegal_types(g, context);
}

}  // namespace headrace

#endif
