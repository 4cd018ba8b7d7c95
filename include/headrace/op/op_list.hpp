// SPDX-License-Identifier: MIT
// Defines headrace::joined, the concatenation of lists of ops.
#ifndef HEADRACE_OP_OP_LIST_HPP
#define HEADRACE_OP_OP_LIST_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <boost/mp11/list.hpp>

#include <headrace/op/op.hpp>

namespace headrace {

namespace detail {

// Returns 0 if T is not an op; the user of the list reports that.
template <class T>
constexpr std::uint64_t hash_or_zero() {
    if constexpr (requires { hash_of(T::name); }) {
        return hash_of(T::name);
    } else {
        return 0;
    }
}

// The ops of a list without duplicates. Hashes are compared as numbers: a set of types would cost an
// instantiation per op, and this costs one per list.
template <class List>
struct each_once;
template <>
struct each_once<ops<>> {
    using type = ops<>;
};
template <class... Ops>
struct each_once<ops<Ops...>> {
    static constexpr std::array<bool, sizeof...(Ops)> is_first = [] {
        constexpr std::uint64_t hashes[] = {hash_or_zero<Ops>()...};
        std::array<bool, sizeof...(Ops)> first{};
        for (std::size_t i = 0; i != sizeof...(Ops); ++i) {
            first[i] = true;
            for (std::size_t k = 0; k != i; ++k)
                first[i] = first[i] && (hashes[k] != hashes[i] || hashes[i] == 0);
        }
        return first;
    }();
    static constexpr bool all_are_first = [] {
        bool all = true;
        for (const bool first : is_first) all = all && first;
        return all;
    }();
    template <std::size_t... I>
    static auto pick(std::index_sequence<I...>)
        -> boost::mp11::mp_append<ops<>, std::conditional_t<is_first[I], ops<Ops>, ops<>>...>;
    template <bool All>
    static auto result() {
        if constexpr (All) {
            return ops<Ops...>{};
        } else {
            return decltype(pick(std::index_sequence_for<Ops...>{})){};
        }
    }
    using type = decltype(result<all_are_first>());
};

}  // namespace detail

/// Several ops<...> lists as one, without duplicates: `using produces = joined<ops<tosa::add>,
/// build::broadcast_ops>`.
template <class... Lists>
using joined = typename detail::each_once<boost::mp11::mp_append<ops<>, Lists...>>::type;

}  // namespace headrace

#endif
