// SPDX-License-Identifier: MIT
// Defines a pattern that does not use one of its placeholders.
// EXPECT: pattern: a placeholder is not used
// EXPECT: unused_placeholder<1, headrace::toy::relu>

#include <headrace/fx/pattern.hpp>

#include "../support/toy.hpp"

using namespace headrace;

struct relu_of_sum {
    auto operator()(auto x, auto y) const { return call<toy::relu>(call<toy::add>(x, y)); }
};

template class headrace::pattern<relu_of_sum>;
