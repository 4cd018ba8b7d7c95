// SPDX-License-Identifier: MIT
// Defines headrace::op_map, a compile-time map from ops to ops, for passes that treat a family of ops alike.
#ifndef HEADRACE_OP_OP_MAP_HPP
#define HEADRACE_OP_OP_MAP_HPP

#include <type_traits>

#include <headrace/op/op.hpp>
#include <headrace/op/op_list.hpp>

namespace headrace {

/// One entry of an op_map.
template <op_tag From, op_tag To>
struct becomes {};

/// `using table = op_map<becomes<aten::exp, tosa::exp>, …>; using targets = table::keys; … table::at<Op>`
template <class... Entries>
struct op_map;
template <class... From, class... To>
struct op_map<becomes<From, To>...> {
    // Overload resolution finds the entry of a key: there is one base class per entry.
    struct entries : std::type_identity<becomes<From, To>>... {};
    template <class Key, class Mapped>
    static Mapped find(const std::type_identity<becomes<Key, Mapped>>&);

    using keys = ops<From...>;
    using values = joined<ops<To...>>;  // without duplicates
    template <class Key>
    using at = decltype(find<Key>(entries{}));
};

}  // namespace headrace

#endif
