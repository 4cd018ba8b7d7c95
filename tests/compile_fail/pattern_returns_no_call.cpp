// SPDX-License-Identifier: MIT
// Defines a pattern that returns its placeholder.
// EXPECT: pattern: it returns something that no call makes
// EXPECT: no_call<headrace::wildcard<0>>

#include <headrace/fx/pattern.hpp>

#include "../support/toy.hpp"

using namespace headrace;

struct relu_of_sum {
    auto operator()(auto x) const { return returns(call<toy::relu>(x), x); }
};

template class headrace::pattern<relu_of_sum>;
