// SPDX-License-Identifier: MIT
// Defines headrace::ops_where and headrace::set_where, the ops of a dialect with given traits.
#ifndef HEADRACE_OP_OP_QUERY_HPP
#define HEADRACE_OP_OP_QUERY_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <headrace/op/op_set.hpp>

namespace headrace {

namespace detail {

// The traits of a dialect's ops, in the order of its list.
template <class List>
struct traits_of_list;
template <class... Ops>
struct traits_of_list<ops<Ops...>> {
    static constexpr std::array<std::uint64_t, sizeof...(Ops)> value{Ops::trait_bits...};
};

template <class Dialect, trait... Traits>
struct op_query {
    static constexpr const auto& traits = traits_of_list<typename Dialect::all_ops>::value;

    static constexpr bool holds(std::size_t i) { return (has_any(traits[i], Traits) && ...); }

    static constexpr std::size_t count = [] {
        std::size_t n = 0;
        for (std::size_t i = 0; i != traits.size(); ++i) n += holds(i);
        return n;
    }();
    static constexpr std::array<std::size_t, count> indices = [] {
        std::array<std::size_t, count> found{};
        std::size_t n = 0;
        for (std::size_t i = 0; i != traits.size(); ++i) {
            if (holds(i)) found[n++] = i;
        }
        return found;
    }();
    static constexpr op_set<Dialect> set = [] {
        op_set<Dialect> found;
        for (const std::size_t i : indices) found.insert_at(0, i);
        return found;
    }();

    template <std::size_t... I>
    static ops<typename type_at<indices[I], typename Dialect::all_ops>::type...> list(
        std::index_sequence<I...>);
    using type = decltype(list(std::make_index_sequence<count>{}));
};

template <class List>
struct bases_of_list;
template <class... Ops>
struct bases_of_list<ops<Ops...>> {
    using type = ops<base_of<Ops>...>;
};

}  // namespace detail

/// The ops of a dialect that have all of the traits, in the order of its list. With `a | b` an op needs only
/// one of the two:
///
///     using in_place_ops = ops_where<aten::dialect, trait::in_place>;
///     using moves = ops_where<tosa::dialect, trait::reshaping | trait::permuting | trait::slicing>;
template <class Dialect, trait... Traits>
using ops_where = typename detail::op_query<Dialect, Traits...>::type;

/// The ops with all of the traits as an op_set, which compiles faster if the types are not needed.
template <class Dialect, trait... Traits>
inline constexpr const op_set<Dialect>& set_where = detail::op_query<Dialect, Traits...>::set;

/// The base ops of the variants in a list, without duplicates.
template <class Variants>
using bases_of = typename detail::bases_of_list<Variants>::type;

}  // namespace headrace

#endif
