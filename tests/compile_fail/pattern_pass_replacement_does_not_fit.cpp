// SPDX-License-Identifier: MIT
// Defines a pass whose replacement takes fewer values than the pattern.
// EXPECT: replacement: its inputs or outputs differ from the pattern's
// EXPECT: other_inputs<1, 2>

#include <headrace/fx/pattern_pass.hpp>

#include "../support/toy.hpp"

using namespace headrace;

struct relu_of_sum {
    auto operator()(auto x, auto y) const { return call<toy::relu>(call<toy::add>(x, y)); }
};
struct clamped {
    auto operator()(auto x) const { return call<toy::clamp>(x, 0, 6); }
};

struct fuse : pattern_pass<relu_of_sum, clamped> {};
