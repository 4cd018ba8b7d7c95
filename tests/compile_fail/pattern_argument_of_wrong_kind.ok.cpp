// SPDX-License-Identifier: MIT
// Defines a pattern with a number where the op takes a tensor.
// EXPECT: pattern: an op does not take such an argument
// EXPECT: wrong_argument<headrace::toy::add,

#include <headrace/fx/pattern.hpp>

#include "../support/toy.hpp"

using namespace headrace;

struct relu_of_sum {
    auto operator()(auto x) const { return call<toy::relu>(call<toy::add>(x, filled_with(2))); }
};

template class headrace::pattern<relu_of_sum>;
