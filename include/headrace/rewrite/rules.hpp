// SPDX-License-Identifier: MIT
// Defines headrace::on and headrace::rules, with which a pass lists its rewrites as expressions.
#ifndef HEADRACE_REWRITE_RULES_HPP
#define HEADRACE_REWRITE_RULES_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include <boost/mp11/list.hpp>

#include <headrace/op/op_list.hpp>
#include <headrace/rewrite/rule_reading.hpp>

namespace headrace {

namespace detail {

// Replaces rules whose fault an assertion has reported.
struct reported_rule {};

template <class... Ops>
struct rules_for {
    using fault =
        typename first_of_faults<std::conditional_t<op_tag<Ops>, no_fault, unknown_op<Ops>>...>::type;

    template <class F>
    constexpr auto operator=(F) const {  // NOLINT: it creates a rule
        static_assert(calls_known_ops<fault>,
            "rule: it is for something that is not an op; see unknown_op<T>, name ops of a dialect");
        static_assert(std::is_empty_v<F>, "rule: its callable has captures; make it capture nothing");
        if constexpr (calls_known_ops<fault> && std::is_empty_v<F>) {
            return rule_list<rule<Ops, F>...>{};
        } else {
            return rule_list<reported_rule>{};
        }
    }
};
template <class List>
struct rules_for_all;
template <class... Ops>
struct rules_for_all<ops<Ops...>> : rules_for<Ops...> {
    using rules_for<Ops...>::operator=;
};

}  // namespace detail

/// Starts the rewrite of each of these ops: `on<aten::log2> = [](auto x) { return log(x) * log2e; }`.
template <class... Ops>
inline constexpr detail::rules_for<Ops...> on{};
/// Starts the rewrite of each op of an ops<...> list.
template <class List>
inline constexpr detail::rules_for_all<List> on_each{};

template <class... As, class... Bs>
constexpr rule_list<As..., Bs...> operator+(rule_list<As...>, rule_list<Bs...>) {
    return {};
}

namespace detail {

// The same rule with another policy.
template <class Rule, class Policy>
struct rule_under;
template <class Op, class F, class NewPolicy, class Policy>
struct rule_under<rule<Op, F, Policy>, NewPolicy> {
    using type = rule<Op, F, NewPolicy>;
};
template <class Policy, class... Rules>
constexpr auto under(rule_list<Rules...>) {
    return rule_list<typename rule_under<Rules, Policy>::type...>{};
}

}  // namespace detail

/// The rewrites of a pass; each argument is one rule or several:
///
///     static auto rewrites() {
///         return rules(on<aten::silu> = [](auto x) { return x * sigmoid(x); },
///                      on<aten::exp> = call<tosa::exp>);
///     }
///
/// The ops that the pass targets, removes and produces follow from the type of the list.
template <class... Lists>
constexpr auto rules(Lists...) {
    return boost::mp11::mp_append<rule_list<>, Lists...>{};
}
/// Rules whose operands and results are converted by a policy.
template <class Policy, class... Lists>
constexpr auto rules_with(Lists... lists) {
    return detail::under<Policy>(rules(lists...));
}

namespace detail {

template <class Rule>
struct rule_facts;
template <class Op, class F, class Policy>
struct rule_facts<rule<Op, F, Policy>> {
    using targets = ops<Op>;
    // Makes the nodes of the expression; returns false if the rule declines.
    static bool run(emitter e, const node& n, value_list& out);
};
// The facts that follow from the type of the expression. Not needed for declared passes.
template <class Rule>
struct rule_effects;
template <class Op, class F, class Policy>
struct rule_effects<rule<Op, F, Policy>> {
    using result = rule_result<Op, F>;
    using op_type = Op;
    using fault = decltype(diagnose_rule<Op, F>());
    static constexpr bool may_decline = is_optional<result> || std::is_same_v<result, unchanged_type>;
    static constexpr auto made = Policy::made | made_in<result>::value;
};

template <>
struct rule_facts<reported_rule> {
    using targets = ops<>;
    static bool run(emitter, const node&, value_list&) { return false; }
};
template <>
struct rule_effects<reported_rule> {
    using op_type = void;
    using fault = unreadable;
    static constexpr bool may_decline = true;
    static constexpr op_set<> made{};
};
template <class Policy>
struct rule_under<reported_rule, Policy> {
    using type = reported_rule;
};

// Appends the results of a rewrite, which a policy converts: terms, or the values of code.
template <class Policy>
void append_result(emitter, value_list& out, const term& y) {
    out.push_back(Policy::result(y, static_cast<std::uint32_t>(out.size())).value());
}
template <class Policy>
void append_result(emitter e, value_list& out, value v) {
    if constexpr (std::is_same_v<Policy, identity_policy>) {
        out.push_back(v);
    } else {
        append_result<Policy>(e, out, term(e, v));
    }
}
template <class Policy>
void append_result(emitter e, value_list& out, const value_list& values) {
    for (const value v : values) append_result<Policy>(e, out, v);
}
template <class Policy, class... Ts>
void append_result(emitter e, value_list& out, const std::tuple<Ts...>& items) {
    std::apply([&](const Ts&... each) { (append_result<Policy>(e, out, each), ...); }, items);
}
// Returns false if the rewrite declined or failed.
template <class Policy, class Returned>
bool take_result(emitter e, const Returned& returned, value_list& out) {
    if constexpr (std::is_same_v<Returned, unchanged_type>) {
        return false;
    } else if (e.failed()) {
        return false;
    } else if constexpr (is_optional<Returned>) {
        if (returned) append_result<Policy>(e, out, *returned);
        return returned.has_value();
    } else {
        append_result<Policy>(e, out, returned);
        return true;
    }
}

template <class Op, class F, class Policy>
bool rule_facts<rule<Op, F, Policy>>::run(emitter e, const node& n, value_list& out) {
    static constexpr rule_arity call = arity_of_rule<Op, F, term>;
    const auto* bytes = static_cast<const std::byte*>(n.arguments);
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
        const auto operand = [&](std::size_t i) {
            return term(e, *reinterpret_cast<const value*>(bytes + operand_offsets<Op>[i]));
        };
        static_cast<void>(operand);
        return take_result<Policy>(
            e, apply_rule<Op, F, term>(args_of<Op>(n), Policy::operand(operand(I))...), out);
    }(std::make_index_sequence<call.operands>{});
}

template <class Op, class... Ops>
constexpr bool is_listed(ops<Ops...>) {
    return (__is_same(Op, Ops) || ...);
}
// Returns the rules for an op, in order.
template <class Op, class... Rules>
constexpr auto rules_on(rule_list<Rules...>) {
    return decltype((rule_list<>{} + ... +
        std::conditional_t<is_listed<Op>(typename rule_facts<Rules>::targets{}), rule_list<Rules>,
            rule_list<>>{})){};
}
// Most passes have one rule per op, which overload resolution finds. It does not find patterns.
template <class Op, class F, class Policy>
rule<Op, F, Policy> rule_of(const std::type_identity<rule<Op, F, Policy>>&);
template <class Rule>
inline constexpr bool is_of_one_op = false;
template <class Op, class F, class Policy>
inline constexpr bool is_of_one_op<rule<Op, F, Policy>> = true;
template <class List>
struct rule_index;
template <class... Rules>
    requires(is_of_one_op<Rules> && ...)
struct rule_index<rule_list<Rules...>> : std::type_identity<Rules>... {};

template <class List, class Op>
constexpr auto find_rules() {
    if constexpr (requires(const rule_index<List>& index) { rule_of<Op>(index); }) {
        return rule_list<decltype(rule_of<Op>(std::declval<const rule_index<List>&>()))>{};
    } else {
        return rules_on<Op>(List{});
    }
}

template <class List>
struct list_facts;
template <class... Rules>
struct list_facts<rule_list<Rules...>> {
    using targets = joined<typename rule_facts<Rules>::targets...>;
};
template <class List>
struct list_effects;
template <class... Rules>
struct list_effects<rule_list<Rules...>> {
    static constexpr auto made = (op_set<>{} | ... | rule_effects<Rules>::made);
    // The fault of the first rule that has one.
    template <class Pass>
    using fault_of_pass = typename first_of_faults<
        std::conditional_t<std::is_same_v<typename rule_effects<Rules>::fault, no_fault>, no_fault,
            in_rewrite<Pass, typename rule_effects<Rules>::op_type,
                typename rule_effects<Rules>::fault>>...>::type;
    using dialect_list = typename std::remove_const_t<decltype(made)>::dialect_list;
};
// The rules for one op together: the first that does not decline rewrites the node.
template <class List>
struct rules_together;
template <class... Rules>
struct rules_together<rule_list<Rules...>> {
    static constexpr bool any = sizeof...(Rules) != 0;
    static constexpr bool may_decline() { return (rule_effects<Rules>::may_decline && ...); }

    static bool run(emitter e, const node& n, value_list& out) {
        return ((rule_facts<Rules>::run(e, n, out) || e.failed()) || ...);
    }
};

template <class T>
inline constexpr bool is_rule_list = false;
template <class... Rules>
inline constexpr bool is_rule_list<rule_list<Rules...>> = true;

template <class P>
auto own_rewrites() {
    if constexpr (requires { requires is_rule_list<decltype(P::rewrites())>; }) {
        return P::rewrites();
    } else {
        return rule_list<>{};
    }
}
/// The rules of a pass.
template <class P>
using rules_of = decltype(own_rewrites<P>());

template <class P, class Op>
using rules_for_op = rules_together<decltype(find_rules<rules_of<P>, Op>())>;
template <class P, class Op>
concept has_rule = rules_for_op<P, Op>::any;

}  // namespace detail

}  // namespace headrace

#endif
