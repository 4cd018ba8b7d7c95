// SPDX-License-Identifier: MIT
// Defines the expressions of patterns and replacements: headrace::call and its companions.
#ifndef HEADRACE_MATCH_PATTERN_EXPRESSION_HPP
#define HEADRACE_MATCH_PATTERN_EXPRESSION_HPP

#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>

#include <headrace/base/fixed_string.hpp>
#include <headrace/op/value.hpp>
#include <headrace/rewrite/expression.hpp>

namespace headrace {

/// An input of a pattern, by position; the pattern's callable is called with these. As an operand it matches
/// any value, as another argument any literal; if it occurs twice, both must be equal.
template <std::size_t I>
struct wildcard {};

/// The maximum number of inputs of a pattern.
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
/// Expression: result I of a node with several results.
template <std::size_t I, class Call>
struct result_expression {
    Call call;
};
/// Expression: an argument by its name in the schema.
template <class Label, class T>
struct named_argument {
    T item;
};
/// Expression: a constant whose elements all equal one number.
struct filled_constant {
    scalar number;
};
/// The values that a pattern returns if there are several.
template <class... Items>
struct returned_values {
    std::tuple<Items...> items;
};

/// Any literal, in a pattern.
struct any_literal_type {};
inline constexpr any_literal_type any_literal{};
/// A constant with any elements, in a pattern.
struct any_constant_type {};
inline constexpr any_constant_type any_constant{};

namespace detail {

// A call with wildcards, as in a pattern: a node of `Op` whose operands are wildcards and calls, and whose
// literals are C++ values, any_literal or wildcards. Equal calls are one node, unless they are `named`
// differently.
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

/// Result `I` of a node with several results.
template <std::size_t I, class Call>
[[nodiscard]] constexpr result_expression<I, Call> result_at(const Call& c) {
    return {c};
}
/// An argument by name, after the positional ones: `call<aten::conv2d>(x, w, with<"groups">(2))`.
template <fixed_string Name, class T>
[[nodiscard]] constexpr named_argument<detail::label<Name>, std::decay_t<const T&>> with(const T& item) {
    return {item};
}
/// A constant whose elements all equal `number`. In a replacement it has the type of the first value that is
/// replaced, and a shape (1, …, 1) that broadcasts with it.
[[nodiscard]] constexpr filled_constant filled_with(scalar number) { return {number}; }
/// A number next to an operand in a pattern: `x * 0.5`.
template <reading X>
    requires(!requires(const X& x) { x.constant(0); })
[[nodiscard]] constexpr filled_constant constant_beside(const X&, double number) {
    return filled_with(number);
}
/// The return value of a pattern with several outputs.
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
/// Literals that are not given may have any value.
template <class Op, bool C, bool A, class L, class... Ts>
[[nodiscard]] constexpr auto any_literals(
    const call_expression<Op, detail::call_modifiers<C, A, L>, Ts...>& c) {
    return call_expression<Op, detail::call_modifiers<C, true, L>, Ts...>{c.arguments};
}
/// Names a call, so that a match finds the node: `m["sum"]`.
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

/// The number of inputs of a pattern's callable; 0 if it takes no wildcards.
template <class F>
inline constexpr std::size_t input_count = detail::count_inputs<F>();

/// Matches callables that take at least one wildcard and return an expression.
template <class F>
concept pattern_function = input_count<F> != 0;

/// Returns the expression of a pattern's callable.
template <pattern_function F>
[[nodiscard]] constexpr auto expression_of(const F& f) {
    return detail::write_out(f, std::make_index_sequence<input_count<F>>{});
}

}  // namespace headrace

#endif
