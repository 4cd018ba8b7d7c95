// SPDX-License-Identifier: MIT
// Defines headrace::pass_code: passes over graphs are called, others are run by a driver.
#ifndef HEADRACE_PASS_RUN_PASS_HPP
#define HEADRACE_PASS_RUN_PASS_HPP

#include <utility>

#include <headrace/pass/driver.hpp>
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

}  // namespace headrace

#endif
