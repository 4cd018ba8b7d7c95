// SPDX-License-Identifier: MIT
// Defines a pass whose handler returns a type that cannot replace an op's results.
// EXPECT: pass: a handler's result cannot replace a node
// EXPECT: wrong_result<lower_relu, headrace::toy::relu, bool>

#include <headrace/pass/pipeline.hpp>

#include "../support/toy.hpp"

using namespace headrace;

struct lower_relu : pass {
    using targets = ops<toy::relu>;
    using produces = ops<toy::clamp>;
    bool operator()(const args<toy::relu>&, emit<produces>&) const { return {}; }
};

struct lowering : pipeline<from<toy::relu>, to<toy::clamp>, lower_relu> {};
