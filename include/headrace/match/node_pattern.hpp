// SPDX-License-Identifier: MIT
// Defines headrace::on_match, the rewrite of a node together with those that its operands come from.
#ifndef HEADRACE_MATCH_NODE_PATTERN_HPP
#define HEADRACE_MATCH_NODE_PATTERN_HPP

#include <array>
#include <type_traits>
#include <utility>

#include <headrace/dialect/builtin.hpp>
#include <headrace/match/node_match.hpp>

namespace headrace {

namespace detail {

// Walks a pattern along the operands of a node.
template <class Pattern, std::size_t Inputs>
class node_matcher {
public:
    std::array<const node*, nodes_in<Pattern>::type::size> found{};
    std::array<value, Inputs> inputs{};

    bool match(const node& n) {
        std::size_t next = 0;
        return match_node(Pattern{}, value{const_cast<node*>(&n), 0}, next);
    }

private:
    template <std::size_t I>
    bool match_node(wildcard<I>, value v, std::size_t&) {
        if (!inputs[I]) inputs[I] = v;
        return inputs[I] == v;
    }
    template <fixed_string Name>
    bool match_node(constant_pattern<Name>, value v, std::size_t& next) {
        found[next++] = v.producer;
        return is<builtin::constant>(*v.producer);
    }
    template <fixed_string Name, class... Ops, bool Optional, class... Operands>
    bool match_node(node_pattern<Name, ops<Ops...>, Optional, Operands...>, value v, std::size_t& next) {
        const std::size_t at = next++;
        [[maybe_unused]] const node_matcher before = *this;  // what a node that is not there has bound
        if (v.result == 0 && (match_operands<Ops, Operands...>(*v.producer, next) || ...)) {
            found[at] = v.producer;
            return true;
        }
        if constexpr (Optional) {
            *this = before;
            next = at + 1;
            return match_first(v, next, Operands{}...);
        } else {
            return false;
        }
    }
    template <class First, class... Rest>
    bool match_first(value v, std::size_t& next, First first, Rest...) {
        const bool matched = match_node(first, v, next);
        next += (std::size_t{0} + ... + nodes_in<Rest>::type::size);
        return matched;
    }
    template <class Op, class... Operands>
    bool match_operands(const node& n, std::size_t& next) {
        static_assert(sizeof...(Operands) <= plain_operands<Op>,
                      "match: the op has fewer operands; leave some out of the pattern");
        if (!is<Op>(n)) return false;
        const auto* bytes = static_cast<const std::byte*>(n.arguments);
        std::size_t i = 0;
        const auto operand = [&] {
            return *reinterpret_cast<const value*>(bytes + operand_offsets<Op>[i++]);
        };
        static_cast<void>(operand);
        return (match_node(Operands{}, operand(), next) && ...);
    }
};

template <class P>
using pattern_of = decltype(expression_of(std::declval<const P&>()));

}  // namespace detail

/// The rewrite `F` of what the pattern that `P` writes matches; see on_match.
template <class P, class F, class Policy = as_they_are>
struct match_rule {};

namespace detail {

// Calls a rewrite with what the wildcards stand for, and with the match if it wants it.
template <class F, class Match, class... Readings>
constexpr auto apply_to_match(const Match& found, const Readings&... inputs) {
    if constexpr (requires { F{}(inputs...); }) {
        return F{}(inputs...);
    } else {
        return F{}(inputs..., found);
    }
}
template <class P, class F, std::size_t... I>
auto read_match(std::index_sequence<I...>)
    -> decltype(apply_to_match<F>(std::declval<const node_match<pattern_of<P>, F>&>(), symbol_at<I>{}...));

// What a rewrite returns when it is called with symbols.
template <class P, class F>
using match_result = decltype(read_match<P, F>(std::make_index_sequence<input_count<P>>{}));

template <class P, class F, class Policy>
struct rule_facts<match_rule<P, F, Policy>> {
    using targets = typename pattern_of<P>::op_list;
    static bool run(emitter e, const node& n, value_list& out);
};
template <class P, class F, class Policy>
struct rule_effects<match_rule<P, F, Policy>> {
    static constexpr bool may_decline = true;  // other nodes of the op do not match
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
        return take_result<Policy>(apply_to_match<F>(found, Policy::operand(term(e, matcher.inputs[I]))...),
                                   out);
    }(std::make_index_sequence<count>{});
}

// What is wrong with a rewrite, once it has been read.
template <class P, class F, class = match_result<P, F>>
using rewrite_fault = decltype(fault_of_names<node_match<pattern_of<P>, F>>());

template <class P>
struct match_rules {
    // Not constexpr: compilers would read the rewrite at once, before the pass that has it is complete.
    template <class F>
    rule_list<match_rule<P, F>> operator=(F) const {  // NOLINT: it makes a rule
        static_assert(std::is_empty_v<F>, "rule: its callable has captures; make it capture nothing");
        static_assert(node_is_in_pattern<rewrite_fault<P, F>>,
                      "match: the pattern has no node of that name; see not_in_pattern<Name>, name one");
        return {};
    }
};

}  // namespace detail

/// The rewrite of a node together with some that lead to it, in a pass's list of rules:
///
///     on_match([](auto x) { return node_of<"outer", tosa::clamp>(node_of<"inner", tosa::clamp>(x)); }) =
///         [](auto x, const auto& m) { … m.template get<"inner">().min_val … }
///
/// The pattern is a callable over wildcards; the rewrite takes what they stand for, then the match if it
/// wants it. Of several rules that a node matches, the first that does not decline is taken. The nodes within
/// may have other readers; is_sole_use tells.
template <class P>
[[nodiscard]] constexpr detail::match_rules<P> on_match(P) {
    return {};
}

}  // namespace headrace

#endif
