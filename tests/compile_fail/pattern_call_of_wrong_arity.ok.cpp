// SPDX-License-Identifier: MIT
// Defines a pattern with a call that has too few operands.
// EXPECT: pattern: a call has too many or too few arguments
// EXPECT: wrong_arity<headrace::toy::add, 1

#include <headrace/fx/pattern.hpp>

#include "../support/toy.hpp"

using namespace headrace;

struct relu_of_sum {
    auto operator()(auto x) const { return call<toy::relu>(call<toy::add>(x, x)); }
};

template class headrace::pattern<relu_of_sum>;
