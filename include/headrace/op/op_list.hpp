// SPDX-License-Identifier: MIT
// Defines headrace::joined, lists of ops put together.
#ifndef HEADRACE_OP_OP_LIST_HPP
#define HEADRACE_OP_OP_LIST_HPP

#include <type_traits>

#include <headrace/op/op.hpp>

namespace headrace {

namespace detail {

template <class A, class B>
struct append_new;
template <class... As, class... Bs>
struct append_new<ops<As...>, ops<Bs...>> {
    template <class List, class T>
    struct add;
    template <class... Ts, class T>
    struct add<ops<Ts...>, T> {
        using type = std::conditional_t<(__is_same(Ts, T) || ...), ops<Ts...>, ops<Ts..., T>>;
    };
    template <class List, class... Rest>
    struct all {
        using type = List;
    };
    template <class List, class First, class... Rest>
    struct all<List, First, Rest...> : all<typename add<List, First>::type, Rest...> {};
    using type = typename all<ops<As...>, Bs...>::type;
};
template <class... As>
struct append_new<ops<As...>, ops<>> {
    using type = ops<As...>;
};
template <class... Bs>
    requires(sizeof...(Bs) > 0)
struct append_new<ops<>, ops<Bs...>> {
    using type = ops<Bs...>;
};

template <class... Lists>
struct join_ops {
    using type = ops<>;
};
template <class First, class... Rest>
struct join_ops<First, Rest...> {
    using type = typename append_new<First, typename join_ops<Rest...>::type>::type;
};

}  // namespace detail

/// Several ops<...> lists as one, each op once: `using produces = joined<ops<tosa::add>,
/// build::broadcast_ops>`.
template <class... Lists>
using joined = typename detail::join_ops<Lists...>::type;

}  // namespace headrace

#endif
