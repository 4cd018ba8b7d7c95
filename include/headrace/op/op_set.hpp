// SPDX-License-Identifier: MIT
// Defines headrace::ops_in and headrace::every_op, which make sets of ops, and headrace::list_of_set, the
// list of the ops in a set.
#ifndef HEADRACE_OP_OP_SET_HPP
#define HEADRACE_OP_OP_SET_HPP

#include <array>
#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

#include <headrace/op/dialects.hpp>
#include <headrace/op/op.hpp>
#include <headrace/op/op_set_type.hpp>

namespace headrace {

namespace detail {

template <class... Ds, class... Ops>
constexpr op_set<Ds...> make_op_set(dialects<Ds...>, ops<Ops...>) {
    op_set<Ds...> set;
    (set.template insert<Ops>(), ...);
    return set;
}

template <class... Ds>
constexpr op_set<Ds...> make_every_op(dialects<Ds...>) {
    op_set<Ds...> set;
    std::size_t position = 0;
    const auto fill = [&]<class D>() {
        for (std::size_t i = 0; i != D::size; ++i) set.insert_at(op_set<Ds...>::first_word(position), i);
        ++position;
    };
    (fill.template operator()<Ds>(), ...);
    return set;
}

template <class List>
struct set_of_list;
template <class... Ops>
struct set_of_list<ops<Ops...>> {
    static constexpr auto value = make_op_set(dialects_of<Ops...>{}, ops<Ops...>{});
};

}  // namespace detail

/// The set of the given ops.
template <op_tag... Ops>
inline constexpr auto ops_in = detail::set_of_list<ops<Ops...>>::value;

/// The set of the ops in a list: set_of<ops<aten::add_tensor, aten::relu>>.
template <class List>
inline constexpr auto set_of = detail::set_of_list<List>::value;

/// All ops of the given dialects.
template <class... Dialects>
inline constexpr auto every_op = detail::make_every_op(dialects<Dialects...>{});

/// The op at {position of its dialect, index in the dialect}. Use it for diagnostics only, see type_at.
template <class Set, std::size_t Position, std::size_t Index>
struct op_at;
template <class... Ds, std::size_t Position, std::size_t Index>
struct op_at<op_set<Ds...>, Position, Index> {
    using dialect = typename type_at<Position, ops<Ds...>>::type;
    using type = typename type_at<Index, typename dialect::all_ops>::type;
};

namespace detail {

template <auto Set, class Indices>
struct listed_set;
template <auto Set, std::size_t... I>
struct listed_set<Set, std::index_sequence<I...>> {
    static constexpr auto positions = [] {
        std::array<std::pair<std::size_t, std::size_t>, sizeof...(I) + 1> found{};
        auto rest = Set;
        for (std::size_t i = 0; i != sizeof...(I); ++i) {
            found[i] = rest.first();
            rest.erase_at(rest.first_word(found[i].first), found[i].second);
        }
        return found;
    }();
    using type = ops<
        typename op_at<std::remove_const_t<decltype(Set)>, positions[I].first, positions[I].second>::type...>;
};

}  // namespace detail

/// The list of the ops in a set, dialect by dialect; the inverse of set_of.
template <auto Set>
using list_of_set = typename detail::listed_set<Set, std::make_index_sequence<Set.size()>>::type;

/// Passes the names of the ops in a set, separated by ", ", piece by piece to `sink(std::string_view)`.
template <class... Ds, class Sink>
constexpr void print(const op_set<Ds...>& set, Sink&& sink) {
    bool first = true;
    set.for_each([&](std::string_view name) {
        if (!first) sink(std::string_view(", "));
        sink(name);
        first = false;
    });
}

/// Matches sets: satisfied by op_set<Dialects...>.
template <class T>
inline constexpr bool is_op_set = false;
template <class... Ds>
inline constexpr bool is_op_set<op_set<Ds...>> = true;

}  // namespace headrace

#endif
