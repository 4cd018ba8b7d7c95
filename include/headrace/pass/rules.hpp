// SPDX-License-Identifier: MIT
// Defines headrace::on and headrace::rules, with which a pass lists its rewrites as expressions.
#ifndef HEADRACE_PASS_RULES_HPP
#define HEADRACE_PASS_RULES_HPP

#include <array>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include <headrace/pass/expression.hpp>

namespace headrace {

/// How the operands of a rule enter its expression and its results leave it: as they are. Another policy has
/// the same members; `made` is what they make.
struct as_they_are {
    static constexpr op_set<> made{};
    static term operand(const term& x) { return x; }
    static term result(const term& y, std::uint32_t) { return y; }
};

/// One rewrite: `F`, a stateless callable, takes the operands of a node of `Op` that are neither optional nor
/// lists, in order, and its `args` after them if it wants them, and returns the expression that replaces it:
/// one for each result in a std::tuple if it has several, `unchanged` or a choice with it where it declines.
template <class Op, class F, class Policy = as_they_are>
struct rule {};

/// Rules as a type.
template <class... Rules>
struct rule_list {};

namespace detail {

template <class... Ops>
struct rules_for {
    template <class F>
    constexpr rule_list<rule<Ops, F>...> operator=(F) const {  // NOLINT: it makes a rule
        static_assert(std::is_empty_v<F>, "rule: its callable holds values; let it capture nothing");
        return {};
    }
};
template <class List>
struct rules_for_all;
template <class... Ops>
struct rules_for_all<ops<Ops...>> : rules_for<Ops...> {
    using rules_for<Ops...>::operator=;
};

}  // namespace detail

/// The rewrite of each of these ops: `on<aten::log2> = [](auto x) { return log(x) * log2e; }`.
template <class... Ops>
inline constexpr detail::rules_for<Ops...> on{};
/// The same of an ops<...> list.
template <class List>
inline constexpr detail::rules_for_all<List> on_each{};

template <class... As, class... Bs>
constexpr rule_list<As..., Bs...> operator+(rule_list<As...>, rule_list<Bs...>) {
    return {};
}

namespace detail {

template <class Policy, class... Ops, class... Fs, class... Policies>
constexpr auto under(rule_list<rule<Ops, Fs, Policies>...>) {
    return rule_list<rule<Ops, Fs, Policy>...>{};
}

}  // namespace detail

/// The rewrites of a pass, one or several for a line:
///
///     static auto rewrites() {
///         return rules(on<aten::silu> = [](auto x) { return x * sigmoid(x); },
///                      on<aten::exp> = call<tosa::exp>);
///     }
///
/// From their type follow the ops that the pass targets, removes and produces.
template <class... Lists>
constexpr auto rules(Lists... lists) {
    return decltype((rule_list<>{} + ... + lists)){};
}
/// Rules whose operands and results go through a policy.
template <class Policy, class... Lists>
constexpr auto rules_with(Lists... lists) {
    return detail::under<Policy>(rules(lists...));
}

namespace detail {

// The operands that a rule takes: how many, and where they are.
template <class Op>
inline constexpr std::size_t plain_operands = [] {
    std::size_t count = 0;
    for (const field_info& f : fields_of<Op>) count += f.kind == field_kind::tensor && !f.optional;
    return count;
}();
template <class Op>
inline constexpr auto operand_offsets = [] {
    std::array<std::uint16_t, plain_operands<Op> + 1> offsets{};
    std::size_t i = 0;
    for (const field_info& f : fields_of<Op>) {
        if (f.kind == field_kind::tensor && !f.optional) offsets[i++] = f.offset;
    }
    return offsets;
}();

template <std::size_t>
using operand_symbol = symbol<op_set<>{}>;

template <class Op, class F, class... Readings>
constexpr auto apply_rule(const args<Op>& a, const Readings&... operands) {
    if constexpr (std::is_invocable_v<const F&, const Readings&...>) {
        return F{}(operands...);
    } else {
        return F{}(operands..., a);
    }
}
template <class Op, class F, std::size_t... I>
auto read_rule(std::index_sequence<I...>)
    -> decltype(apply_rule<Op, F>(std::declval<const args<Op>&>(), operand_symbol<I>{}...));

// What a rule returns when it is called with symbols.
template <class Op, class F>
using rule_result = decltype(read_rule<Op, F>(std::make_index_sequence<plain_operands<Op>>{}));

template <class Rule>
struct rule_facts;
template <class Op, class F, class Policy>
struct rule_facts<rule<Op, F, Policy>> {
    using result = rule_result<Op, F>;
    static constexpr bool may_decline = is_optional<result> || std::is_same_v<result, unchanged_type>;
    static constexpr auto made = Policy::made | made_in<result>::value;
};

template <class Policy>
void append_term(value_list& out, const term& y) {
    out.push_back(Policy::result(y, static_cast<std::uint32_t>(out.size())).value());
}
template <class Policy, class... Ts>
void append_term(value_list& out, const std::tuple<Ts...>& ys) {
    std::apply([&](const Ts&... each) { (append_term<Policy>(out, each), ...); }, ys);
}

/// Makes the nodes of a rule's expression; false if it declines.
template <class Op, class F, class Policy>
bool run_rule(emitter& e, const args<Op>& a, value_list& out) {
    const auto* bytes = reinterpret_cast<const std::byte*>(&a);
    const auto returned = [&]<std::size_t... I>(std::index_sequence<I...>) {
        return apply_rule<Op, F>(
            a, Policy::operand(term(e, *reinterpret_cast<const value*>(bytes + operand_offsets<Op>[I])))...);
    }(std::make_index_sequence<plain_operands<Op>>{});
    using result = std::remove_const_t<decltype(returned)>;
    if constexpr (is_optional<result>) {
        if (returned) append_term<Policy>(out, *returned);
        return returned.has_value();
    } else {
        append_term<Policy>(out, returned);
        return true;
    }
}

// The rule for an op, by overload resolution.
template <class Op, class F, class Policy>
rule<Op, F, Policy> rule_of(const std::type_identity<rule<Op, F, Policy>>&);
template <class List>
struct rule_index;
template <class... Rules>
struct rule_index<rule_list<Rules...>> : std::type_identity<Rules>... {};

template <class List>
struct list_facts;
template <class... Ops, class... Fs, class... Policies>
struct list_facts<rule_list<rule<Ops, Fs, Policies>...>> {
    using targets = ops<Ops...>;
    static constexpr auto made = (op_set<>{} | ... | rule_facts<rule<Ops, Fs, Policies>>::made);
    using dialect_list = typename std::remove_const_t<decltype(made)>::dialect_list;
};

template <class P>
auto own_rewrites() {
    if constexpr (requires { P::rewrites(); }) {
        return P::rewrites();
    } else {
        return rule_list<>{};
    }
}
/// The rules that a pass lists.
template <class P>
using rules_of = decltype(own_rewrites<P>());

template <class P, class Op>
concept has_rule = requires(const rule_index<rules_of<P>>& index) { rule_of<Op>(index); };
template <class P, class Op>
using rule_in = decltype(rule_of<Op>(std::declval<const rule_index<rules_of<P>>&>()));

}  // namespace detail

}  // namespace headrace

#endif
