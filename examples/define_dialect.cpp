// SPDX-License-Identifier: MIT
// An op is a type. What its struct says is all that printing, defaults, sets and inference need.
#include <cstdio>

#include <headrace/ir/listing.hpp>
#include <headrace/op/op_set.hpp>

#include "my_dialect.hpp"
#include "small_graph.hpp"

static_assert(my::dialect::size == 2);
static_assert(my::swish::name == "my.swish.default");
static_assert(headrace::args<my::swish>{}.beta == 1);
static_assert(headrace::every_op<my::dialect>.contains<my::scale_shift>());

int main() {
    small_graph g;
    const headrace::value x = g.input("x", {1, 8});
    const headrace::value scaled = g.make<my::scale_shift>({.self = x, .scale = 0.5});
    g.output(g.make<my::swish>({.self = scaled}));  // beta is the default, and so not listed
    std::printf("%s", headrace::listing(g).c_str());
}
