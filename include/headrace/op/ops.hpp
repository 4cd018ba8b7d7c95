// SPDX-License-Identifier: MIT
// Defines headrace::ops, a list of op tags, and headrace::type_at, the type at a position of it.
#ifndef HEADRACE_OP_OPS_HPP
#define HEADRACE_OP_OPS_HPP

#include <cstddef>
#include <type_traits>
#include <utility>

namespace headrace {

/// A list of op tags.
template <class... Ops>
struct ops {
    static constexpr std::size_t size = sizeof...(Ops);
};

namespace detail {

template <std::size_t I, class T>
struct indexed {};
template <class Indices, class... Ts>
struct indexed_types;
template <std::size_t... I, class... Ts>
struct indexed_types<std::index_sequence<I...>, Ts...> : indexed<I, Ts>... {};
template <std::size_t I, class T>
std::type_identity<T> held_at(const indexed<I, T>&);

}  // namespace detail

/// The type at position `I` of a list. For diagnostics only: it costs one base class per type of the list.
template <std::size_t I, class List>
struct type_at;
template <std::size_t I, class... Ts>
struct type_at<I, ops<Ts...>> {
    using type = typename decltype(detail::held_at<I>(
        detail::indexed_types<std::make_index_sequence<sizeof...(Ts)>, Ts...>{}))::type;
};

}  // namespace headrace

#endif
