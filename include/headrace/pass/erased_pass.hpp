// SPDX-License-Identifier: MIT
// Defines the form of passes in which drivers run them: their handlers, with erased types.
#ifndef HEADRACE_PASS_ERASED_PASS_HPP
#define HEADRACE_PASS_ERASED_PASS_HPP

#include <array>
#include <concepts>
#include <cstdint>
#include <span>
#include <string_view>

#include <headrace/pass/pass.hpp>

namespace headrace {

namespace detail {

/// Matches graph passes that return node_counts.
template <class P>
concept counts_nodes = graph_pass<P> && requires(const P& p, graph& g, pass_context& c) {
    { p.run(g, c) } -> std::same_as<result<node_counts>>;
};

/// `kept`: the handler returned the node's own results.
enum class outcome_kind : std::uint8_t { replaced, kept, declined, failed };

inline outcome_kind outcome_of(emitter e, bool rewritten) {
    if (e.failed()) return outcome_kind::failed;
    return rewritten ? outcome_kind::replaced : outcome_kind::declined;
}

/// A handler with erased types, so that drivers are compiled once instead of once per pass and target.
struct handler {
    const op_info* op;
    outcome_kind (*call)(const void* pass, emitter e, value_list& with);  // for the current node
};

template <class P, class Op>
outcome_kind call_erased(const void* pass, emitter any, value_list& with) {
    emit<declared_by<P>> e(any);
    auto returned = call_handler<P, Op>(*static_cast<const P*>(pass), args_of<Op>(e.current()), e);
    return outcome_of(any, take_result<identity_policy>(any, returned, with));
}
template <class Rules>
outcome_kind call_rules(const void*, emitter e, value_list& with) {
    return outcome_of(e, Rules::run(e, e.current(), with));
}
template <class P, class Op>
constexpr handler handler_for() {
    if constexpr (has_rule<P, Op>) {
        return {&info_of<Op>, &call_rules<rules_for_op<P, Op>>};
    } else {
        return {&info_of<Op>, &call_erased<P, Op>};
    }
}

template <class P, class Targets>
struct handlers_in;
template <class P, class... Ops>
struct handlers_in<P, ops<Ops...>> {
    static constexpr std::array<handler, sizeof...(Ops)> value{handler_for<P, Ops>()...};
};

/// The ops of a list, as data for code that is compiled once.
template <class List>
struct infos_in;
template <class... Ops>
struct infos_in<ops<Ops...>> {
    static constexpr std::array<const op_info*, sizeof...(Ops)> value{&info_of<Ops>...};
};

/// True if a graph or one of its regions has a node of one of these ops.
bool has_any_of(const graph& g, std::span<const op_info* const> ops);

class retracing_run;

/// The type-erased form of a pass, for the drivers.
struct erased_pass {
    const void* object;
    std::string_view name;
    std::span<const handler> handlers;
    bool in_execution_order;
    // Used only by interpreters, see export_pass.
    const handler* fallback = nullptr;  ///< for operators without a handler
    bool changes_metadata = false;      ///< values that depend on a changed type are inferred again
    result<void> (*submodule)(
        const void* pass, retracing_run& run, graph& region, node& holder, pass_context& context) = nullptr;
};
template <class P>
erased_pass erase_type(const P& p) {
    return {&p, pass_name<P>(), handlers_in<P, targets_of<P>>::value, visits_in_execution_order<P>};
}

}  // namespace detail

}  // namespace headrace

#endif
