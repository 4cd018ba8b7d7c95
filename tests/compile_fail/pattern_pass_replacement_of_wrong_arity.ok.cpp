// SPDX-License-Identifier: MIT
// Defines a pass whose replacement has a call with too many operands.
// EXPECT: replacement: its expression is ill-formed
// EXPECT: wrong_arity<headrace::toy::neg, 2, 1>

#include <headrace/fx/pattern_pass.hpp>

#include "../support/toy.hpp"

using namespace headrace;

struct relu_of_sum {
    auto operator()(auto x, auto y) const { return call<toy::relu>(call<toy::add>(x, y)); }
};
struct clamped {
    auto operator()(auto x, auto y) const { return call<toy::add>(x, y); }
};

struct fuse : pattern_pass<relu_of_sum, clamped> {};
