// SPDX-License-Identifier: MIT
// Defines headrace::code, functions that make nodes, as rewrites and as parts of expressions, and
// emit::build, expressions as parts of such functions.
#ifndef HEADRACE_REWRITE_CODE_HPP
#define HEADRACE_REWRITE_CODE_HPP

#include <concepts>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include <headrace/rewrite/emit.hpp>
#include <headrace/rewrite/expression.hpp>

namespace headrace {

namespace detail {

// Code as a rewrite. `F` is a stateless callable; a function is wrapped in a std::integral_constant.
template <class List, class F>
struct coded : F {};

// The list of the ops that a function may emit, by its first parameter.
template <class Result, class List, class... Parameters>
List ops_emitted_by(Result (*)(emit<List>, Parameters...));
template <class Result, class List, class... Parameters>
List ops_emitted_by(Result (*)(emit<List>&, Parameters...));
template <class Result, class List, class... Parameters>
List ops_emitted_by(Result (*)(const emit<List>&, Parameters...));

template <class Result, class... Parameters>
Result returned_by(Result (*)(Parameters...));

// The symbols of what code returns.
template <class Returned, class Symbol>
struct symbols_for : std::type_identity<Symbol> {};
template <class Returned, class Symbol>
struct symbols_for<std::optional<Returned>, Symbol>
    : std::type_identity<std::optional<typename symbols_for<Returned, Symbol>::type>> {};
template <class... Ts, class Symbol>
struct symbols_for<std::tuple<Ts...>, Symbol>
    : std::type_identity<std::tuple<typename symbols_for<Ts, Symbol>::type...>> {};

inline term as_terms(emitter e, value v) { return {e, v}; }
template <class... Ts>
auto as_terms(emitter e, const std::tuple<Ts...>& values) {
    return std::apply([&](const Ts&... each) { return std::tuple(as_terms(e, each)...); }, values);
}
template <class T>
auto as_terms(emitter e, const std::optional<T>& values) {
    return values ? std::optional(as_terms(e, *values)) : std::nullopt;
}

template <class List, class Returned, class F, class... Arguments>
constexpr auto expression_of_code(const F& f, const Arguments&... arguments) {
    if constexpr ((holds_symbol<Arguments> || ...)) {
        using made = decltype(symbol_of<set_of<List>, Arguments...>());
        return typename symbols_for<Returned, made>::type{};
    } else {
        emit<List> e(first_term(arguments...).owner());
        return as_terms(e, f(e, as_argument(arguments)...));
    }
}

// The type of an argument for code, whichever the reading.
template <class T>
using as_given = const typename given_as<T>::type&;

}  // namespace detail

/// Code that makes nodes with an emitter, which may emit the ops of `List`, an ops<...> list. Without
/// operands it is the rewrite of an op: `f` takes the emitter and the node's arguments, and the op's tag
/// before them if it wants that.
///
///     on<aten::cat, aten::concat> = code<made>([](emit<made> e, const auto& a) { … })
///     on<aten::argmax, aten::argmin> = code<made>([](auto op, emit<made> e, const auto& a) { … })
///
/// `f` returns a value, a value_list, or a std::tuple of values: one for each result. If it returns a
/// std::optional of these, it may decline. With operands it is a part of an expression: `f` takes their
/// values instead, and may have captures:
///
///     [](auto x) { return code<made>([](emit<made> e, value v) { … }, exp(x)) * 2; }
template <class List, class F, class... Operands>
constexpr auto code(const F& f, const Operands&... operands) {
    if constexpr (sizeof...(Operands) == 0) {
        return detail::coded<List, F>{f};
    } else {
        using returned =
            decltype(f(std::declval<emit<List>&>(), std::declval<detail::as_given<Operands>>()...));
        return detail::expression_of_code<List, returned>(f, operands...);
    }
}
/// Code that is a function, whose list is that of its emitter: `on<aten::roll> = code<rolled>()` is a
/// rewrite, and `code<build::reshape>(x, shape)` a part of an expression. As a rewrite, it takes the node's
/// arguments or the values of its operands.
template <auto Function, class... Operands>
constexpr auto code(const Operands&... operands) {
    using list = decltype(detail::ops_emitted_by(Function));
    if constexpr (sizeof...(Operands) == 0) {
        return detail::coded<list, std::integral_constant<decltype(Function), Function>>{};
    } else {
        using returned = decltype(detail::returned_by(Function));
        return detail::expression_of_code<list, returned>(Function, operands...);
    }
}

template <class Produces>
template <class F, std::same_as<value>... Values>
auto emit<Produces>::build(const F& expression, Values... operands) const {
    using returned = decltype(expression((static_cast<void>(operands), operand_symbol{})...));
    using fault = typename detail::fault_in<returned>::type;
    static_assert(calls_fit<fault>, "emit: a call does not fit its op; see the diagnosis, fix that call");
    if constexpr (std::is_same_v<fault, no_fault>) {
        emit<list_of_set<detail::made_in<returned>::value>> checked(*this);
        return detail::as_argument(expression(term(checked, operands)...));
    } else {
        return value();
    }
}

}  // namespace headrace

#endif
