// SPDX-License-Identifier: MIT
// Defines a pass whose replacement can be called with nothing.
// EXPECT: replacement: it is not an expression and emits nothing
// EXPECT: not_a_replacement<clamped>

#include <headrace/fx/pattern_pass.hpp>

#include "../support/toy.hpp"

using namespace headrace;

struct relu_of_sum {
    auto operator()(auto x, auto y) const { return call<toy::relu>(call<toy::add>(x, y)); }
};
struct clamped {
    value operator()(int) const { return {}; }
};

struct fuse : pattern_pass<relu_of_sum, clamped> {};
