// SPDX-License-Identifier: MIT
// Defines headrace::choose, alternatives in expressions.
#ifndef HEADRACE_REWRITE_CHOICE_HPP
#define HEADRACE_REWRITE_CHOICE_HPP

#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include <headrace/rewrite/expression.hpp>

namespace headrace {

namespace detail {

template <class F>
constexpr decltype(auto) branch(const F& f) {
    if constexpr (requires { f(); }) {
        return f();
    } else {
        return f;
    }
}
template <class F>
using branch_type = std::remove_cvref_t<decltype(branch(std::declval<const F&>()))>;

// A branch: its expression, void if there is none, and whether it may leave the node unchanged.
template <class T>
struct branch_of {
    using expression = T;
    static constexpr bool declines = false;
};
template <>
struct branch_of<void> {
    using expression = ill_formed<not_an_expression<void>>;
    static constexpr bool declines = false;
};
template <class T>
struct branch_of<std::optional<T>> {
    using expression = T;
    static constexpr bool declines = true;
};
template <>
struct branch_of<unchanged_type> {
    using expression = void;
    static constexpr bool declines = true;
};

template <class T>
inline constexpr bool is_ill_formed = !std::is_same_v<typename fault_in<T>::type, no_fault>;

// The common type of two expressions, in either reading. With symbols, a fault becomes a diagnosis.
template <class A, class B>
struct joined_expressions {
    static_assert(holds_symbol<A> || holds_symbol<B>,
        "choose: a branch is not an expression; return one from it, or `unchanged`");
    using other = std::conditional_t<holds_symbol<A>, B, A>;
    using type = ill_formed<not_an_expression<other>>;
};
template <class A, class B>
    requires((is_ill_formed<A> || is_ill_formed<B>) && !std::is_same_v<A, B> && !std::is_void_v<A> &&
        !std::is_void_v<B>)
struct joined_expressions<A, B> {
    using type = ill_formed<typename fault_in<std::tuple<A, B>>::type>;
};
template <class A>
struct joined_expressions<A, A> : std::type_identity<A> {};
template <class A>
struct joined_expressions<A, void> : std::type_identity<A> {};
template <class B>
struct joined_expressions<void, B> : std::type_identity<B> {};
template <auto A, auto B>
    requires(!std::is_same_v<symbol<A>, symbol<B>>)
struct joined_expressions<symbol<A>, symbol<B>> : std::type_identity<symbol<A | B>> {};
template <class... As, class... Bs>
    requires(sizeof...(As) == sizeof...(Bs) && !std::is_same_v<std::tuple<As...>, std::tuple<Bs...>>)
struct joined_expressions<std::tuple<As...>, std::tuple<Bs...>>
    : std::type_identity<std::tuple<typename joined_expressions<As, Bs>::type...>> {};

// The type of a choice between two branches.
template <class A, class B>
struct joined_branches {
    using expression = typename joined_expressions<typename branch_of<A>::expression,
        typename branch_of<B>::expression>::type;
    using type = std::conditional_t<branch_of<A>::declines || branch_of<B>::declines,
        std::optional<expression>, expression>;
};

template <class To, class F>
constexpr To take_branch(const F& f) {
    if constexpr (is_ill_formed<To>) {
        return To();
    } else if constexpr (std::is_same_v<branch_type<F>, unchanged_type>) {
        return std::nullopt;
    } else {
        return branch(f);
    }
}

}  // namespace detail

/// Alternatives, one of which is chosen at run time. Each is an expression, or a callable without parameters
/// that returns one and is called only if chosen. The ops of all of them count as made by the rewrite.
///
///     choose(a.approximate == "tanh", [&] { return … tanh(…); }, [&] { return … erf(…); })
///     choose(is_floating(x.dtype()), [&] { return …; }, unchanged)
template <class Then, class Else>
constexpr auto choose(bool condition, const Then& then, const Else& otherwise) {
    using chosen =
        typename detail::joined_branches<detail::branch_type<Then>, detail::branch_type<Else>>::type;
    return condition ? detail::take_branch<chosen>(then) : detail::take_branch<chosen>(otherwise);
}
/// Chooses the first alternative whose condition is true, else the last.
template <class Then, class... Rest>
constexpr auto choose(bool condition, const Then& then, bool next, const Rest&... rest) {
    return choose(condition, then, [&] { return choose(next, rest...); });
}

/// Returns f(x, operand) if an optional operand is given, else x: `with_operand(y, a.bias, [](auto v, auto
/// bias) { return v + bias; })`.
template <reading X, class F>
constexpr auto with_operand(const X& x, const std::optional<value>& operand, const F& f) {
    return choose(
        operand.has_value(), [&] { return f(x, x.of(*operand)); }, x);
}

}  // namespace headrace

#endif
