// SPDX-License-Identifier: MIT
// Defines the handlers of a pass, headrace::effects_of, its effects by its signatures, and its name.
#ifndef HEADRACE_PASS_PASS_HPP
#define HEADRACE_PASS_PASS_HPP

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include <headrace/base/type_name.hpp>
#include <headrace/op/op_set.hpp>
#include <headrace/pass/pass_lists.hpp>
#include <headrace/rewrite/messages.hpp>

namespace headrace {

namespace detail {

template <class P, class Op>
concept handles_args = requires(const P& p, const args<Op>& a, emit<declared_by<P>>& e) { p(a, e); };
template <class P, class Op>
concept handles_tag = requires(const P& p, const args<Op>& a, emit<declared_by<P>>& e) { p(Op{}, a, e); };

template <class P, class Op>
auto call_handler(const P& p, const args<Op>& a, emit<declared_by<P>>& e) {
    if constexpr (handles_args<P, Op>) {
        return p(a, e);
    } else {
        return p(Op{}, a, e);
    }
}

}  // namespace detail

/// Matches a pass and an op for which it has a rule or a handler.
template <class P, class Op>
concept handles = detail::has_rule<P, Op> || detail::handles_args<P, Op> || detail::handles_tag<P, Op>;

/// True if nodes are visited in execution order instead of op by op. Set `static constexpr bool
/// in_execution_order = true` in a pass whose handlers depend on rewrites of earlier nodes.
template <class P>
inline constexpr bool visits_in_execution_order = [] {
    if constexpr (requires { P::in_execution_order; }) {
        return P::in_execution_order;
    } else {
        return false;
    }
}();

HEADRACE_FAULT(completeness, handlers_complete);
HEADRACE_FAULT(result, results_are_values);

/// Diagnoses that name the culprit in compile errors; see no_fault.
template <class Pass, class Op>
struct no_handler : faults::completeness {};
template <class Pass, class Op, class Result>
struct wrong_result : faults::result {};

namespace detail {

enum class handler_kind : std::uint8_t { none, wrong, rewrites, may_decline };

template <class P, class Op>
using handler_result = decltype(call_handler<P, Op>(
    std::declval<const P&>(), std::declval<const args<Op>&>(), std::declval<emit<declared_by<P>>&>()));

template <class Result>
constexpr handler_kind kind_of_result() {
    if (values_in<Result> == 0) return handler_kind::wrong;
    return is_optional<Result> ? handler_kind::may_decline : handler_kind::rewrites;
}

template <class P, class Op>
constexpr handler_kind kind_of_handler() {
    if constexpr (has_rule<P, Op>) {
        return rules_for_op<P, Op>::may_decline() ? handler_kind::may_decline : handler_kind::rewrites;
    } else if constexpr (handles<P, Op>) {
        return kind_of_result<handler_result<P, Op>>();
    } else {
        return handler_kind::none;
    }
}

template <std::size_t N>
constexpr std::size_t position_of_kind(const handler_kind (&kinds)[N], handler_kind k) {
    for (std::size_t i = 0; i != N - 1; ++i) {
        if (kinds[i] == k) return i;
    }
    return N - 1;
}

template <class P, class Targets>
struct handler_table;
template <class P, class... Ops>
struct handler_table<P, ops<Ops...>> {
    // The last element ends the list.
    static constexpr handler_kind kinds[] = {kind_of_handler<P, Ops>()..., handler_kind::none};
    static constexpr std::size_t missing = position_of_kind(kinds, handler_kind::none);
    static constexpr std::size_t wrong = position_of_kind(kinds, handler_kind::wrong);

    static auto diagnose_missing() {
        if constexpr (missing == sizeof...(Ops)) {
            return no_fault{};
        } else {
            return no_handler<P, typename type_at<missing, ops<Ops...>>::type>{};
        }
    }
    static auto diagnose_result() {
        if constexpr (wrong == sizeof...(Ops)) {
            return no_fault{};
        } else {
            using op_type = typename type_at<wrong, ops<Ops...>>::type;
            return wrong_result<P, op_type, handler_result<P, op_type>>{};
        }
    }

    template <class Set>
    static constexpr void insert_removed(Set& set) {
        std::size_t i = 0;
        ((kinds[i++] == handler_kind::rewrites ? set.template insert<Ops>() : void()), ...);
        static_cast<void>(i);
    }
};

}  // namespace detail

/// Matches passes whose should_run replaces the generated skip test: `bool should_run(const graph&, bool
/// has_targets) const`, which gets the result of that test.
template <class P>
concept replaces_skip_test = pass_type<P> && requires(const detail::pass_facts<P>& p, const graph& g) {
    { p.should_run(g, true) } -> std::same_as<bool>;
};

/// Matches passes that decide whether they run: `bool should_run(const graph&) const`, which is called only
/// if the graph has targets of the pass and so narrows the generated skip test, or a should_run that replaces
/// the test.
template <class P>
concept decides_itself =
    replaces_skip_test<P> || (pass_type<P> && requires(const detail::pass_facts<P>& p, const graph& g) {
        { p.should_run(g) } -> std::same_as<bool>;
    });

namespace detail {

template <class Set, class... Ops>
constexpr void insert_all(Set& set, ops<Ops...>) {
    (set.template insert<Ops>(), ...);
}

template <class P>
inline constexpr bool always_runs = targets_of<P>::size == 0 || replaces_skip_test<P>;

// Whole-graph passes have no handlers to check; those of declared passes were checked by passes/declare.
template <class P>
using table_of = handler_table<P, std::conditional_t<graph_pass<P> || is_declared<P>, ops<>, targets_of<P>>>;
template <class P>
using removable = std::conditional_t<graph_pass<P>, removes_of<P>, targets_of<P>>;

// Returns the ops that are gone after the pass. A pass that may decline to run removes nothing for certain.
template <class P, class Set>
constexpr Set removed_by() {
    Set set;
    if constexpr (decides_itself<P>) {
        return set;
    } else if constexpr (graph_pass<P> || is_declared<P>) {
        insert_all(set, removes_of<P>{});
    } else {
        table_of<P>::insert_removed(set);
    }
    return set;
}

template <class List>
struct set_type_of_list;
template <class... Ops>
struct set_type_of_list<ops<Ops...>> {
    template <class... Ds>
    static op_set<Ds...> over(dialects<Ds...>);
    using type = decltype(over(dialects_of<Ops...>{}));
};
template <class List>
using set_type_of = typename set_type_of_list<List>::type;

}  // namespace detail

/// The effect of a pass on the set of ops of a graph, derived from its signatures. It does not report faults:
/// pipelines and apply_pass do, where the message is short.
template <pass_type P>
struct effects_of {
    using facts = detail::pass_facts<P>;
    using targets = targets_of<P>;
    /// The fault of the handlers, or no_fault.
    using missing_handler = decltype(detail::table_of<P>::diagnose_missing());
    using faulty_handler = decltype(detail::table_of<P>::diagnose_result());
    /// The fault of the rules, or no_fault.
    using faulty_rule = typename detail::list_effects<detail::rules_of<facts>>::template fault_of_pass<P>;

    /// False for a pass with a fault: pipelines ignore its effects, so that no second error follows.
    static constexpr bool sound = std::is_same_v<missing_handler, no_fault> &&
        std::is_same_v<faulty_handler, no_fault> && std::is_same_v<faulty_rule, no_fault>;
    /// True for a pass without targets, unless it declines, and for one that replaces the skip test.
    static constexpr bool always_runs = detail::always_runs<P>;

    // The types are explicit: with `auto`, each pass would instantiate its sets even if nothing reads them.
    static constexpr detail::set_type_of<targets> target_set = set_of<targets>;
    static constexpr auto produced_set = set_of<detail::declared_by<facts>> | detail::made_by_rules<facts>;
    static constexpr detail::set_type_of<detail::removable<P>> removed_set =
        detail::removed_by<P, detail::set_type_of<detail::removable<P>>>();
};

/// A pass's name: its `name` member, or the type's own.
template <class P>
constexpr std::string_view pass_name() {
    using facts = detail::pass_facts<P>;
    if constexpr (requires {
                      { facts::name } -> std::convertible_to<std::string_view>;
                  }) {
        return facts::name;
    } else {
        return type_name<P>;
    }
}

/// Returns a one-line summary of a pass, its `static constexpr std::string_view summary`: "silu(x) as x *
/// sigmoid(x)". Empty if it has none.
template <class P>
constexpr std::string_view pass_summary() {
    using facts = detail::pass_facts<P>;
    if constexpr (requires {
                      { facts::summary } -> std::convertible_to<std::string_view>;
                  }) {
        return facts::summary;
    } else {
        return {};
    }
}

}  // namespace headrace

#endif
