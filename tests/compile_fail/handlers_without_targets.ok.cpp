// SPDX-License-Identifier: MIT
// Defines a pass that has a handler but no targets: nothing would ever call it.
// EXPECT: pass: it has handlers but no targets
// EXPECT: no_targets<lower_relu>

#include <headrace/pass/pipeline.hpp>

#include "../support/toy.hpp"

using namespace headrace;

struct lower_relu : pass {
    using targeted_ops = ops<toy::relu>;
    using produces = ops<toy::clamp>;
    value operator()(const args<toy::relu>& a, emit<produces>& e) const { return e.make<toy::clamp>(a.self); }
};

struct lowering : pipeline<from<toy::relu>, to<toy::clamp, toy::relu>, lower_relu> {};
