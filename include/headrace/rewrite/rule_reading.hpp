// SPDX-License-Identifier: MIT
// Defines headrace::rule and how its callable is read: the operands that it takes, the expression that it
// returns, and its fault, a diagnosis that names pass and op in compile errors.
#ifndef HEADRACE_REWRITE_RULE_READING_HPP
#define HEADRACE_REWRITE_RULE_READING_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include <headrace/base/fixed_string.hpp>
#include <headrace/rewrite/call_checks.hpp>
#include <headrace/rewrite/choice.hpp>
#include <headrace/rewrite/emit.hpp>
#include <headrace/rewrite/expression.hpp>

namespace headrace {

HEADRACE_FAULT(operands, rule_takes_operands);
HEADRACE_FAULT(code, code_takes_arguments);
HEADRACE_FAULT(name, node_is_in_pattern);

/// Diagnoses of rules, for compile errors. A rule's callable cannot be called with the operands of `Op`.
template <class Op>
struct not_callable_with : faults::operands {};
/// The code of a rule cannot be called with an emitter of `List` and the arguments of `Op`.
template <class Op, class List>
struct not_code_for : faults::code {};
/// The code of a rule returns a `T`.
template <class T>
struct not_values : faults::results {};
/// A rule returns `Given` expressions for an op with `Has` results.
template <class Op, std::size_t Given, std::size_t Has>
struct wrong_result_count : faults::results {};
/// A rewrite asks its match for a node whose name is not in the pattern (match/node_pattern.hpp).
template <fixed_string... Names>
struct pattern_names {};
template <fixed_string Name, class Names>
struct not_in_pattern : faults::name {};
/// The rule of `Op` that has the diagnosis.
template <class Pass, class Op, class Diagnosis>
struct in_rewrite : Diagnosis {};

template <class Diagnosis>
inline constexpr bool code_lists_all = only_emits_what_it_produces<Diagnosis>;

/// The policy of how operands enter a rule's expression and results leave it: unchanged. Other policies have
/// the same members; `made` is the set of ops that they make.
struct identity_policy {
    static constexpr op_set<> made{};
    static term operand(const term& x) { return x; }
    static term result(const term& y, std::uint32_t) { return y; }
};

using as_they_are [[deprecated("say identity_policy")]] = identity_policy;

/// One rewrite. `F` is a stateless callable. It takes the operands of a node of `Op` that are neither
/// optional nor lists, in order, and optionally the node's `args` after them. It may take fewer operands if
/// the next parameter is a `const args<Op>&`. It returns the replacing expression: a std::tuple of them if
/// the op has several results; `unchanged`, or a choice with it, to decline.
template <class Op, class F, class Policy = identity_policy>
struct rule {};

/// A list of rules, as a type.
template <class... Rules>
struct rule_list {};

namespace detail {

// The number of operands that a rule takes, and their offsets.
template <class Op>
inline constexpr std::size_t plain_operands = [] {
    std::size_t count = 0;
    for (const field_info& f : fields_of<Op>) count += f.kind == field_kind::tensor && !f.optional;
    return count;
}();
// The indices of these operands. The fields of an op that is declared wrongly are unknown: its rules are not
// read, and this is the fault.
template <class Op>
using operand_indices = std::conditional_t<std::is_same_v<declaration_fault<Op>, no_fault>,
    std::make_index_sequence<plain_operands<Op>>, declaration_fault<Op>>;
template <class Op>
inline constexpr auto operand_offsets = [] {
    std::array<std::uint16_t, plain_operands<Op> + 1> offsets{};
    std::size_t i = 0;
    for (const field_info& f : fields_of<Op>) {
        if (f.kind == field_kind::tensor && !f.optional) offsets[i++] = f.offset;
    }
    return offsets;
}();

template <class Reading, std::size_t>
using reading_at = Reading;
template <std::size_t I>
using symbol_at = reading_at<operand_symbol, I>;

// The parameters of a rule's callable: the number of operands, and whether the arguments follow. All operands
// come first; a callable that takes fewer shows it by the type of the next parameter. Compilers read its
// whole body for this, with symbols or with terms; code that runs a rule uses only terms.
struct rule_arity {
    std::size_t operands = 0;
    bool arguments = false;
    bool found = false;
};
template <class Op, class F, class Reading, std::size_t... I>
constexpr rule_arity try_call(std::index_sequence<I...>) {
    if constexpr (requires(const F& f) { f(std::declval<reading_at<Reading, I>>()...); }) {
        return {sizeof...(I), false, true};
    } else if constexpr (requires(const F& f, const args<Op>& a) {
                             f(std::declval<reading_at<Reading, I>>()..., a);
                         }) {
        return {sizeof...(I), true, true};
    } else if constexpr (sizeof...(I) > 1) {
        return try_call<Op, F, Reading>(std::make_index_sequence<sizeof...(I) - 1>{});
    } else {
        return {};
    }
}
template <class Op, class F, class Reading, class Fault>
constexpr rule_arity try_call(Fault) {
    return {};
}
template <class Op, class F, class Reading>
inline constexpr rule_arity arity_of_rule = try_call<Op, F, Reading>(operand_indices<Op>{});

template <class Op, class F, class Reading, class... Readings>
constexpr auto apply_rule(const args<Op>& a, const Readings&... operands) {
    if constexpr (!arity_of_rule<Op, F, Reading>.found) {
        return unchanged;  // pipelines report the fault
    } else if constexpr (arity_of_rule<Op, F, Reading>.arguments) {
        // After an error in its body, clang no longer finds the callable.
        if constexpr (requires { F{}(operands..., a); }) {
            return F{}(operands..., a);
        } else {
            return ill_formed<unreadable>{};
        }
    } else if constexpr (requires { F{}(operands...); }) {
        return F{}(operands...);
    } else {
        return ill_formed<unreadable>{};
    }
}
template <class Op, class F, std::size_t... I>
auto read_rule(std::index_sequence<I...>)
    -> decltype(apply_rule<Op, F, operand_symbol>(std::declval<const args<Op>&>(), symbol_at<I>{}...));

// The return type of a rule called with symbols.
template <class Op, class F>
using rule_result =
    decltype(read_rule<Op, F>(std::make_index_sequence<arity_of_rule<Op, F, operand_symbol>.operands>{}));

// Reads rules with symbols, with few templates between them and the pipeline: a compile error in the body of
// a callable then has few lines. First without the node's arguments, then with them.
template <class Rule>
struct operands_of_rule {
    using indices = std::index_sequence<>;
};
template <class Op, class F, class Policy>
struct operands_of_rule<rule<Op, F, Policy>> {
    using indices = operand_indices<Op>;
};
// Calls `F`, or if it does not take the arguments, a function that takes anything. This tells a callable with
// an error in its body from one with other parameters: clang does not find the former again.
struct takes_others {
    void is_called() const;
};
template <class F>
struct or_other : F {
    using F::operator();
    takes_others operator()(...) const;
};
template <class Rule, class Indices>
inline constexpr bool reads_alone = true;
template <class Op, class F, class Policy, std::size_t... I>
inline constexpr bool reads_alone<rule<Op, F, Policy>, std::index_sequence<I...>> =
    !requires(const or_other<F>& f) { f(symbol_at<I>{}...).is_called(); };
template <class Rule, class Indices>
struct reads_with_arguments : std::false_type {};
template <class Op, class F, class Policy, std::size_t... I>
struct reads_with_arguments<rule<Op, F, Policy>, std::index_sequence<I...>> {
    static constexpr bool value =
        !requires(const or_other<F>& f, const args<Op>& a) { f(symbol_at<I>{}..., a).is_called(); };
};
template <class List>
inline constexpr bool rules_read = true;
template <class... Rules>
inline constexpr bool rules_read<rule_list<Rules...>> =
    (std::conditional_t<reads_alone<Rules, typename operands_of_rule<Rules>::indices>, std::true_type,
         reads_with_arguments<Rules, typename operands_of_rule<Rules>::indices>>::value &&
        ...);

// The expressions that a rule returns: their number, and their fault.
template <class T>
struct returned_expressions {
    static constexpr std::size_t count = 1;
    using fault = not_an_expression<T>;
};
template <class T>
    requires(is_symbol<T> || std::is_same_v<T, unchanged_type>)
struct returned_expressions<T> {
    static constexpr std::size_t count = 1;
    using fault = typename fault_in<T>::type;
};
template <class T>
struct returned_expressions<std::optional<T>> : returned_expressions<T> {};
template <class... Ts>
struct returned_expressions<std::tuple<Ts...>> {
    static constexpr std::size_t count = sizeof...(Ts);
    using fault = typename first_of_faults<typename returned_expressions<Ts>::fault...>::type;
};

template <class Op, class Result>
auto diagnose_result() {
    using returned = returned_expressions<Result>;
    if constexpr (!std::is_same_v<typename returned::fault, no_fault>) {
        return typename returned::fault{};
    } else if constexpr (Op::results == variadic_results || std::is_same_v<Result, unchanged_type> ||
        returned::count == std::size_t{Op::results}) {
        return no_fault{};
    } else {
        return wrong_result_count<Op, returned::count, std::size_t{Op::results}>{};
    }
}

// True if a callable has matching parameters, and so, if it could not be read, an error in its body.
template <class Op, class F, std::size_t... I>
constexpr bool has_parameters(std::index_sequence<I...> indices) {
    using read = rule<Op, F>;
    return reads_alone<read, decltype(indices)> || reads_with_arguments<read, decltype(indices)>::value;
}

template <class Op, class F>
auto diagnose_rule() {
    if constexpr (!std::is_same_v<declaration_fault<Op>, no_fault>) {
        return declaration_fault<Op>{};
    } else if constexpr (!arity_of_rule<Op, F, operand_symbol>.found) {
        constexpr bool is_read = has_parameters<Op, F>(typename operands_of_rule<rule<Op, F>>::indices{});
        return std::conditional_t<is_read, unreadable, not_callable_with<Op>>{};
    } else {
        return diagnose_result<Op, rule_result<Op, F>>();
    }
}

}  // namespace detail

}  // namespace headrace

#endif
