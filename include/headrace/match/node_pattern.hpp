// SPDX-License-Identifier: MIT
// Defines headrace::on_match, the rewrite of a node together with nodes that produce its operands.
#ifndef HEADRACE_MATCH_NODE_PATTERN_HPP
#define HEADRACE_MATCH_NODE_PATTERN_HPP

#include <cstddef>
#include <type_traits>
#include <utility>

#include <headrace/match/node_match.hpp>
#include <headrace/match/node_matcher.hpp>
#include <headrace/rewrite/code_rule.hpp>

namespace headrace {

namespace detail {

template <class P>
using pattern_of = decltype(expression_of(std::declval<const P&>()));

}  // namespace detail

/// The rule that rewrites nodes matching the pattern of `P` by `F`; see on_match.
template <class P, class F, class Policy = identity_policy>
struct match_rule {};

namespace detail {

// The symbolic match with which a rewrite is read.
template <class P, class F>
using match_symbol = node_match<pattern_of<P>, F, true>;

// Calls a rewrite with the values of the wildcards, and with the match if it takes one.
template <class F, class Match, class... Readings>
constexpr auto apply_to_match(const Match& found, const Readings&... inputs) {
    if constexpr (requires { F{}(inputs...); }) {
        return F{}(inputs...);
    } else if constexpr (requires { F{}(inputs..., found); }) {
        return F{}(inputs..., found);
    } else {
        return unchanged;  // pipelines report the fault
    }
}
template <class P, class F, std::size_t... I>
auto read_match(std::index_sequence<I...>)
    -> decltype(apply_to_match<F>(std::declval<const match_symbol<P, F>&>(), symbol_at<I>{}...));

// The type that a rewrite returns when called with symbols.
template <class P, class F>
using match_result = decltype(read_match<P, F>(std::make_index_sequence<input_count<P>>{}));

// See rules_read.
template <class P, class F, class Policy>
struct operands_of_rule<match_rule<P, F, Policy>> {
    using indices = std::make_index_sequence<input_count<P>>;
};
template <class P, class F, class Policy, std::size_t... I>
inline constexpr bool reads_alone<match_rule<P, F, Policy>, std::index_sequence<I...>> =
    !requires(const or_other<F>& f) { f(symbol_at<I>{}...).is_called(); };
template <class P, class F, class Policy, std::size_t... I>
struct reads_with_arguments<match_rule<P, F, Policy>, std::index_sequence<I...>> {
    static constexpr bool value =
        !requires(const or_other<F>& f, const match_symbol<P, F>& m) { f(symbol_at<I>{}..., m).is_called(); };
};

// Diagnoses a pattern's node of an op that is declared wrongly, or with more operands than its op has.
template <class Op, std::size_t Given>
using arity_fault =
    std::conditional_t<Given <= plain_operands<Op> || !__is_same(declaration_fault<Op>, no_fault),
        declaration_fault<Op>, wrong_arity<Op, Given, plain_operands<Op>>>;
template <class P>
struct node_fault {
    using type = no_fault;
};
template <fixed_string Name, class... Ops, node_use Use, class... Operands>
struct node_fault<node_pattern<Name, ops<Ops...>, Use, Operands...>>
    : first_of_faults<arity_fault<Ops, sizeof...(Operands)>..., typename node_fault<Operands>::type...> {};

template <class P, class F, std::size_t... I>
constexpr bool has_match_parameters(std::index_sequence<I...> indices) {
    using read = match_rule<P, F>;
    return reads_alone<read, decltype(indices)> || reads_with_arguments<read, decltype(indices)>::value;
}
template <class P, class F, std::size_t... I>
constexpr bool takes_match(std::index_sequence<I...>) {
    return requires(const F& f) { f(symbol_at<I>{}...); } ||
        requires(const F& f, const match_symbol<P, F>& m) { f(symbol_at<I>{}..., m); };
}
// Diagnoses a rewrite by reading it with symbols.
template <class P, class F>
auto diagnose_match() {
    using root = typename type_at<0, typename pattern_of<P>::op_list>::type;
    using nodes = typename node_fault<pattern_of<P>>::type;
    using indices = std::make_index_sequence<input_count<P>>;
    if constexpr (!std::is_same_v<nodes, no_fault>) {
        return nodes{};
    } else if constexpr (!takes_match<P, F>(indices{})) {
        return std::conditional_t<has_match_parameters<P, F>(indices{}), unreadable,
            not_callable_with<root>>{};
    } else if constexpr (!std::is_same_v<decltype(diagnose_result<root, match_result<P, F>>()), no_fault>) {
        return diagnose_result<root, match_result<P, F>>();
    } else {
        return fault_of_names<match_symbol<P, F>>();
    }
}

template <class P, class F, class Policy>
struct rule_facts<match_rule<P, F, Policy>> {
    using targets = typename pattern_of<P>::op_list;
    static bool run(emitter e, const node& n, value_list& out);
};
template <class P, class F, class Policy>
struct rule_effects<match_rule<P, F, Policy>> {
    using op_type = typename type_at<0, typename pattern_of<P>::op_list>::type;
    using fault = decltype(diagnose_match<P, F>());
    static constexpr bool may_decline = true;  // other nodes of the op may not match
    static constexpr auto made = Policy::made | made_in<match_result<P, F>>::value;
};
template <class P, class F, class NewPolicy, class Policy>
struct rule_under<match_rule<P, F, Policy>, NewPolicy> {
    using type = match_rule<P, F, NewPolicy>;
};

template <class P, class F, class Policy>
bool rule_facts<match_rule<P, F, Policy>>::run(emitter e, const node& n, value_list& out) {
    constexpr std::size_t count = input_count<P>;
    node_matcher<pattern_of<P>, count> matcher;
    if (!matcher.match(n)) return false;
    const node_match<pattern_of<P>, F> found{matcher.found};
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
        return take_result<Policy>(
            e, apply_to_match<F>(found, Policy::operand(term(e, matcher.inputs[I]))...), out);
    }(std::make_index_sequence<count>{});
}

struct not_callable {};
// Code as the rewrite of a match takes the emitter, the values of the wildcards, and optionally the match.
// Read with the symbolic match, it reports names that the pattern does not have; see missing_name.
template <class List, class F, class Match, std::size_t... I>
auto find_match_result(std::index_sequence<I...>) {
    using emitter_type = emit<List>&;
    if constexpr (std::is_invocable_v<F, emitter_type, reading_at<value, I>..., const Match&>) {
        return std::type_identity<
            std::invoke_result_t<F, emitter_type, reading_at<value, I>..., const Match&>>{};
    } else if constexpr (std::is_invocable_v<F, emitter_type, reading_at<value, I>...>) {
        return std::type_identity<std::invoke_result_t<F, emitter_type, reading_at<value, I>...>>{};
    } else {
        return std::type_identity<not_callable>{};
    }
}
template <class P, class List, class F>
using match_code_result = typename decltype(find_match_result<List, F, match_symbol<P, F>>(
    std::make_index_sequence<input_count<P>>{}))::type;

template <class F, class List, class Match, std::size_t... I>
auto call_code_of_match(emit<List>& e, const value* inputs, const Match& found, std::index_sequence<I...>) {
    static_cast<void>(inputs);
    if constexpr (std::is_invocable_v<F, emit<List>&, reading_at<value, I>..., const Match&>) {
        return F{}(e, inputs[I]..., found);
    } else {
        return F{}(e, inputs[I]...);
    }
}

// Code whose body is read with a symbolic match: the match's type is a template parameter.
template <class F>
concept generic_code = !requires { &F::operator(); };
template <class P, class List, class F, class Policy>
struct operands_of_rule<match_rule<P, coded<List, F>, Policy>> {
    using indices = std::make_index_sequence<input_count<P>>;
};
template <class P, class List, generic_code F, class Policy, std::size_t... I>
inline constexpr bool reads_alone<match_rule<P, coded<List, F>, Policy>, std::index_sequence<I...>> =
    !requires(const or_other<F>& f, emit<List>& e, const reading_at<value, I>&... inputs) {
        f(e, inputs...).is_called();
    };
template <class P, class List, generic_code F, class Policy, std::size_t... I>
struct reads_with_arguments<match_rule<P, coded<List, F>, Policy>, std::index_sequence<I...>> {
    static constexpr bool value =
        !requires(const or_other<F>& f, emit<List>& e, const reading_at<headrace::value, I>&... inputs,
            const match_symbol<P, F>& m) { f(e, inputs..., m).is_called(); };
};

template <class P, class List, class F>
auto diagnose_match_code() {
    using root = typename type_at<0, typename pattern_of<P>::op_list>::type;
    using nodes = typename node_fault<pattern_of<P>>::type;
    using indices = std::make_index_sequence<input_count<P>>;
    using result = match_code_result<P, List, F>;
    if constexpr (!std::is_same_v<nodes, no_fault>) {
        return nodes{};
    } else if constexpr (std::is_same_v<result, not_callable>) {
        constexpr bool is_read = generic_code<F> && has_match_parameters<P, coded<List, F>>(indices{});
        return std::conditional_t<is_read, unreadable, not_code_for<root, List>>{};
    } else if constexpr (!std::is_void_v<list_fault<F, List, match_symbol<P, F>>>) {
        return list_fault<F, List, match_symbol<P, F>>{};
    } else if constexpr (!std::is_same_v<decltype(diagnose_values<root, result>()), no_fault>) {
        return diagnose_values<root, result>();
    } else {
        return fault_of_names<match_symbol<P, F>>();
    }
}

template <class P, class List, class F, class Policy>
struct ops_of_code<match_rule<P, coded<List, F>, Policy>> : std::type_identity<List> {};

template <class P, class List, class F, class Policy>
struct rule_facts<match_rule<P, coded<List, F>, Policy>> {
    using targets = typename pattern_of<P>::op_list;
    static bool run(emitter any, const node& n, value_list& out) {
        constexpr std::size_t count = input_count<P>;
        node_matcher<pattern_of<P>, count> matcher;
        if (!matcher.match(n)) return false;
        if constexpr (!std::is_same_v<Policy, identity_policy>) {
            for (value& v : matcher.inputs) v = Policy::operand(term(any, v)).value();
        }
        const node_match<pattern_of<P>, F> found{matcher.found};
        emit<List> e(any);
        return take_result<Policy>(any,
            call_code_of_match<F>(e, matcher.inputs.data(), found, std::make_index_sequence<count>{}), out);
    }
};
template <class P, class List, class F, class Policy>
struct rule_effects<match_rule<P, coded<List, F>, Policy>> {
    using op_type = typename type_at<0, typename pattern_of<P>::op_list>::type;
    using fault = decltype(diagnose_match_code<P, List, F>());
    static constexpr bool may_decline = true;  // other nodes of the op may not match
    static constexpr auto made = Policy::made | set_of<List>;
};

template <class P>
struct match_rules {
    template <class F>
    constexpr auto operator=(F) const {  // NOLINT: it creates a rule
        static_assert(std::is_empty_v<F>, "rule: its callable has captures; make it capture nothing");
        return std::conditional_t<std::is_empty_v<F>, rule_list<match_rule<P, F>>,
            rule_list<reported_rule>>{};
    }
};
// Replaces match_rules after an error.
struct no_match_rules {
    template <class F>
    constexpr rule_list<reported_rule> operator=(F) const {  // NOLINT: as above
        return {};
    }
};

template <class T>
inline constexpr bool is_node_pattern = false;
template <fixed_string Name, class... Ops, node_use Use, class... Operands>
inline constexpr bool is_node_pattern<node_pattern<Name, ops<Ops...>, Use, Operands...>> =
    sizeof...(Ops) != 0;
template <class P>
inline constexpr bool writes_node_pattern = [] {
    if constexpr (pattern_function<P>) {
        return is_node_pattern<pattern_of<P>>;
    } else {
        return false;
    }
}();

}  // namespace detail

/// Starts the rewrite of a node together with nodes that lead to it, in a pass's list of rules:
///
///     on_match([](auto x) { return node_of<"outer", tosa::clamp>(node_of<"inner", tosa::clamp>(x)); }) =
///         [](auto x, const auto& m) { … get<"inner">(m).min_val … }
///
/// The pattern is a callable over wildcards. The rewrite takes the values of the wildcards and, optionally,
/// the match. It may be code: `code<List>([](emit<List> e, value x, const auto& m) { … })`. If several rules
/// match a node, the first that does not decline is used. Inner nodes may have other users, unless they are
/// a sole_node.
template <class P>
[[nodiscard]] constexpr auto on_match(P) {
    static_assert(detail::writes_node_pattern<P>,
        "match: its pattern is no node of an op; return node_of<…>(…) of the parameters");
    return std::conditional_t<detail::writes_node_pattern<P>, detail::match_rules<P>,
        detail::no_match_rules>{};
}

}  // namespace headrace

#endif
