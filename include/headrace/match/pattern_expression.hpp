// SPDX-License-Identifier: MIT
// Defines the expressions that patterns and replacements are written in: headrace::call and what goes with
// it.
#ifndef HEADRACE_MATCH_PATTERN_EXPRESSION_HPP
#define HEADRACE_MATCH_PATTERN_EXPRESSION_HPP

#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>

#include <headrace/base/fixed_string.hpp>
#include <headrace/op/value.hpp>
#include <headrace/pass/expression.hpp>

namespace headrace {

/// An input of a pattern, by position: what the pattern's callable is called with. As an operand it stands
/// for any value, as another argument for any literal; where it stands twice, both are the same.
template <std::size_t I>
struct wildcard {};

/// The most inputs that a pattern can have.
inline constexpr std::size_t max_wildcards = 32;

namespace detail {

template <fixed_string Text>
struct label {
    static constexpr std::string_view text = Text.view();
};
struct no_label {
    static constexpr std::string_view text{};
};

template <bool Commutative, bool AnyLiterals, class Label>
struct call_modifiers {};

}  // namespace detail

/// Expression: a node of that op.
template <class Op, class Modifiers, class... Arguments>
struct call_expression {
    std::tuple<Arguments...> arguments;
};
/// Expression: another than the first result of a node.
template <std::size_t I, class Call>
struct result_expression {
    Call call;
};
/// Expression: an argument by its name in the schema.
template <class Label, class T>
struct named_argument {
    T item;
};
/// Expression: a constant whose elements are all one number.
struct filled_constant {
    scalar number;
};
/// What a pattern returns, if that is more than one value.
template <class... Items>
struct returned_values {
    std::tuple<Items...> items;
};

/// In a pattern, in place of a literal: whatever it is.
struct any_literal_type {};
inline constexpr any_literal_type any_literal{};
/// In a pattern, in place of an operand: a constant, whatever its elements are.
struct any_constant_type {};
inline constexpr any_constant_type any_constant{};

namespace detail {

// A call with wildcards, which is a pattern's: a node of `Op` whose operands are wildcards and calls, and
// whose literals are C++ values, any_literal or wildcards. Two calls that are the same are one node, unless
// they are `named` differently.
template <class Op>
struct pattern_call {
    template <class... Arguments>
    static constexpr auto read(const Arguments&... arguments) {
        using plain = call_modifiers<false, false, no_label>;
        return call_expression<Op, plain, Arguments...>{{arguments...}};
    }
};

}  // namespace detail

template <std::size_t I>
inline constexpr bool is_reading<wildcard<I>> = true;
template <class Op, class Modifiers, class... Arguments>
inline constexpr bool is_reading<call_expression<Op, Modifiers, Arguments...>> = true;
template <std::size_t I, class Call>
inline constexpr bool is_reading<result_expression<I, Call>> = true;
template <>
inline constexpr bool is_reading<any_constant_type> = true;

/// Result `I` of a node that has several.
template <std::size_t I, class Call>
[[nodiscard]] constexpr result_expression<I, Call> result_at(const Call& c) {
    return {c};
}
/// An argument by name, after those in order: `call<aten::conv2d>(x, w, with<"groups">(2))`.
template <fixed_string Name, class T>
[[nodiscard]] constexpr named_argument<detail::label<Name>, std::decay_t<const T&>> with(const T& item) {
    return {item};
}
/// A constant whose elements are all `number`. A replacement gets one of the type of the first value that it
/// replaces, and of a shape (1, …, 1) that broadcasts with it.
[[nodiscard]] constexpr filled_constant filled_with(scalar number) { return {number}; }
/// In a pattern, a number beside an operand: `x * 0.5`.
template <reading X>
    requires(!requires(const X& x) { x.constant(0); })
[[nodiscard]] constexpr filled_constant constant_beside(const X&, double number) {
    return filled_with(number);
}
/// What a pattern with several outputs returns.
template <class... Items>
[[nodiscard]] constexpr returned_values<Items...> returns(const Items&... items) {
    return {{items...}};
}

/// The first two operands may be swapped.
template <class Op, bool C, bool A, class L, class... Ts>
[[nodiscard]] constexpr auto commutative(
    const call_expression<Op, detail::call_modifiers<C, A, L>, Ts...>& c) {
    return call_expression<Op, detail::call_modifiers<true, A, L>, Ts...>{c.arguments};
}
/// Literals that are left out may be any.
template <class Op, bool C, bool A, class L, class... Ts>
[[nodiscard]] constexpr auto any_literals(
    const call_expression<Op, detail::call_modifiers<C, A, L>, Ts...>& c) {
    return call_expression<Op, detail::call_modifiers<C, true, L>, Ts...>{c.arguments};
}
/// A name, by which a match finds the node: `m["sum"]`.
template <fixed_string Name, class Op, bool C, bool A, class L, class... Ts>
[[nodiscard]] constexpr auto named(const call_expression<Op, detail::call_modifiers<C, A, L>, Ts...>& c) {
    return call_expression<Op, detail::call_modifiers<C, A, detail::label<Name>>, Ts...>{c.arguments};
}

namespace detail {

template <class F, std::size_t... I>
constexpr bool takes_wildcards(std::index_sequence<I...>) {
    return std::is_invocable_v<const F&, wildcard<I>...>;
}
template <class F, std::size_t N = 1>
constexpr std::size_t count_inputs() {
    if constexpr (N > max_wildcards) {
        return 0;
    } else if constexpr (takes_wildcards<F>(std::make_index_sequence<N>{})) {
        return N;
    } else {
        return count_inputs<F, N + 1>();
    }
}
template <class F, std::size_t... I>
constexpr auto write_out(const F& f, std::index_sequence<I...>) {
    return f(wildcard<I>{}...);
}

}  // namespace detail

/// How many inputs a pattern's callable takes; 0 if it takes no wildcards.
template <class F>
inline constexpr std::size_t input_count = detail::count_inputs<F>();

/// Matches callables that take wildcards, from one on, and return an expression.
template <class F>
concept pattern_function = input_count<F>
!= 0;

/// The expression that a pattern's callable writes.
template <pattern_function F>
[[nodiscard]] constexpr auto expression_of(const F& f) {
    return detail::write_out(f, std::make_index_sequence<input_count<F>>{});
}

}  // namespace headrace

#endif
