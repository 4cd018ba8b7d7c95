// SPDX-License-Identifier: MIT
// Defines headrace::dialects, a list of dialects, and headrace::dialects_of, those of a list of ops.
#ifndef HEADRACE_OP_DIALECTS_HPP
#define HEADRACE_OP_DIALECTS_HPP

#include <cstddef>
#include <type_traits>

namespace headrace {

/// A list of dialects without duplicates.
template <class... Dialects>
struct dialects {
    static constexpr std::size_t size = sizeof...(Dialects);
};

namespace detail {

template <class List, class Dialect>
struct add_dialect;
template <class... Ds, class D>
struct add_dialect<dialects<Ds...>, D> {
    static auto pick() {
        if constexpr ((__is_same(Ds, D) || ...)) {
            return dialects<Ds...>{};
        } else {
            return dialects<Ds..., D>{};
        }
    }
    using type = decltype(pick());
};

template <class List>
struct collected {
    using type = List;
};
template <class List, class Dialect>
auto operator+(collected<List>, std::type_identity<Dialect>)
    -> collected<typename add_dialect<List, Dialect>::type>;

}  // namespace detail

/// The dialects of a list of ops, in order of first appearance.
template <class... Ops>
using dialects_of = typename decltype((
    detail::collected<dialects<>>{} + ... + std::type_identity<typename Ops::dialect_type>{}))::type;

template <class A, class B>
struct merge_dialects;
template <class... As, class... Bs>
struct merge_dialects<dialects<As...>, dialects<Bs...>> {
    using type =
        typename decltype((detail::collected<dialects<As...>>{} + ... + std::type_identity<Bs>{}))::type;
};

}  // namespace headrace

#endif
