// SPDX-License-Identifier: MIT
// An op is a type. Its struct says all that printing, defaults, sets, queries and inference need.
#include <cstdio>
#include <type_traits>

#include <headrace/ir/listing.hpp>
#include <headrace/op/op_query.hpp>

#include "my_dialect.hpp"
#include "small_graph.hpp"

static_assert(my::dialect::size == 2);
static_assert(my::swish::name == "my.swish.default");
static_assert(headrace::args<my::swish>{}.beta == 1);
static_assert(headrace::every_op<my::dialect>.contains<my::scale_shift>());

//! [facts]
// Facts stand with the op, and passes ask for them instead of listing ops.
using elementwise_ops = headrace::ops_where<my::dialect, headrace::trait::elementwise>;
static_assert(std::is_same_v<elementwise_ops, headrace::ops<my::scale_shift, my::swish>>);
static_assert(!headrace::has_trait<my::swish>(headrace::trait::commutative));
//! [facts]

int main() {
    small_graph g;
    const headrace::value x = g.input("x", {1, 8});
    const headrace::value scaled = g.make<my::scale_shift>({.self = x, .scale = 0.5});
    g.output(g.make<my::swish>({.self = scaled}));  // beta is the default, and so not listed
    std::printf("%s", headrace::listing(g).c_str());
}
