// SPDX-License-Identifier: MIT
// Defines headrace::pass_code: passes over graphs are called, others are run by a driver; and
// headrace::apply_pass, which runs one pass.
#ifndef HEADRACE_PASS_RUN_PASS_HPP
#define HEADRACE_PASS_RUN_PASS_HPP

#include <utility>

#include <headrace/pass/driver.hpp>
#include <headrace/pass/messages.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/pass/pass_base.hpp>
#include <headrace/pass/pass_checks.hpp>
#include <headrace/pass/pass_code.hpp>

namespace headrace {

namespace detail {

// A pass with a fault does nothing: its user has reported the fault.
template <pass_type P>
result<node_counts> run_unchecked(const P& p, graph& g, pass_context& context, driver_kind driver) {
    if constexpr (counts_nodes<P>) {
        return p.run(g, context);
    } else if constexpr (graph_pass<P>) {
        result<std::size_t> rewritten = p(g, context);
        if (!rewritten) return std::move(rewritten).error();
        return node_counts{.rewritten = rewritten.value()};
    } else if constexpr (effects_of<P>::sound && has_inference<P>) {
        return run_handlers(erase_type(p), g, context, driver);
    } else {
        return node_counts{};
    }
}

}  // namespace detail

// Not inline, so that headrace::compiled can contain it.
template <class P>
result<node_counts> pass_code<P>::run(const P& p, graph& g, pass_context& context, driver_kind driver) {
    if constexpr (detail::checks_itself<P> || !(has_requirement<P> || has_guarantee<P>)) {
        return detail::run_unchecked(p, g, context, driver);
    } else {
        return detail::run_checked(p, g, [&] { return detail::run_unchecked(p, g, context, driver); });
    }
}
template <class P>
result<node_counts> pass_code<P>::run_default(graph& g, pass_context& context, driver_kind driver) {
    return run(P{}, g, context, driver);
}
template <class P>
bool pass_code<P>::should_run(const graph& g, bool has_targets) {
    return detail::wants_to_run(P{}, g, has_targets);
}

/// Runs one pass on a graph, without a pipeline, if it is due (see is_due); else only runs its checks.
template <class P>
[[nodiscard]] result<node_counts> apply_pass(
    const P& p, graph& g, pass_context& context, driver_kind driver = driver_kind::in_place) {
    static_assert(is_a_pass<pass_fault<P>>, HEADRACE_NOT_A_PASS);
    static_assert(lists_are_lists<pass_fault<P>>, HEADRACE_NOT_A_LIST);
    static_assert(rewrites_are_rules<pass_fault<P>>, HEADRACE_NO_RULES);
    static_assert(rule_takes_operands<pass_fault<P>>, HEADRACE_NOT_CALLABLE);
    static_assert(code_takes_arguments<pass_fault<P>>, HEADRACE_NOT_CODE);
    static_assert(code_lists_all<pass_fault<P>>, HEADRACE_CODE_NOT_PRODUCED);
    static_assert(calls_fit<pass_fault<P>>, HEADRACE_CALL_DOES_NOT_FIT);
    static_assert(node_is_in_pattern<pass_fault<P>>, HEADRACE_NOT_IN_PATTERN);
    static_assert(rule_gives_results<pass_fault<P>>, HEADRACE_NO_RESULTS);
    static_assert(handlers_complete<pass_fault<P>>, HEADRACE_NO_HANDLER);
    static_assert(handlers_are_const<pass_fault<P>>, HEADRACE_HANDLER_NOT_CONST);
    static_assert(handlers_fit<pass_fault<P>>, HEADRACE_WRONG_HANDLER);
    static_assert(handlers_have_targets<pass_fault<P>>, HEADRACE_NO_TARGETS);
    static_assert(results_are_values<faulty_handler_of<P>>, HEADRACE_WRONG_RESULT);
    static_assert(results_are_inferred<inference_fault_of<P>>, HEADRACE_NO_INFERENCE);
    if constexpr (runnable_pass<P>) {
        if (!is_due(p, g, context)) return detail::run_checks_alone(p, g);
        return pass_code<P>::run(p, g, context, driver);
    } else {
        return node_counts{};
    }
}

}  // namespace headrace

#endif
