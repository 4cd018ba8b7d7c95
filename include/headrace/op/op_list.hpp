// SPDX-License-Identifier: MIT
// Defines headrace::joined, lists of ops put together.
#ifndef HEADRACE_OP_OP_LIST_HPP
#define HEADRACE_OP_OP_LIST_HPP

#include <boost/mp11/set.hpp>
#include <boost/mp11/algorithm.hpp>

#include <headrace/op/op.hpp>

namespace headrace {

/// Several ops<...> lists as one, each op once: `using produces = joined<ops<tosa::add>,
/// build::broadcast_ops>`.
template <class... Lists>
using joined = boost::mp11::mp_set_union<ops<>, boost::mp11::mp_unique<Lists>...>;

}  // namespace headrace

#endif
