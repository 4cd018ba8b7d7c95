// SPDX-License-Identifier: MIT
// Defines a pattern that calls something that is not an op.
// EXPECT: pattern: it calls something that is not an op
// EXPECT: unknown_op<plus>

#include <headrace/fx/pattern.hpp>

#include "../support/toy.hpp"

using namespace headrace;

struct plus {};

struct relu_of_sum {
    auto operator()(auto x, auto y) const { return call<toy::relu>(call<plus>(x, y)); }
};

template class headrace::pattern<relu_of_sum>;
