// SPDX-License-Identifier: MIT
// Defines a pass that misspells a member of the op that it emits.
// EXPECT: headrace::toy::clamp::args

#include <headrace/rewrite/emit.hpp>

#include <headrace/pass/pipeline.hpp>

#include "../support/toy.hpp"

using namespace headrace;

struct lower_relu : pass {
    using targeted_ops = ops<toy::relu>;
    using produces = ops<toy::clamp>;
    value operator()(const args<toy::relu>& a, emit<produces>& e) const {
        return e.make<toy::clamp>({.slef = a.self, .min = 0});
    }
};

struct lowering : pipeline<from<toy::relu>, to<toy::clamp>, lower_relu> {};
