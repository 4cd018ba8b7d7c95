// SPDX-License-Identifier: MIT
// Defines a pass whose only handler takes the values of an op, not its arguments and the emitter.
// EXPECT: pass: a handler has the wrong parameters
// EXPECT: wrong_handler<lower_relu, headrace::toy::relu, headrace::value (lower_relu::*)(headrace::value)
// const

#include <headrace/pass/pipeline.hpp>

#include "../support/toy.hpp"

using namespace headrace;

struct lower_relu : pass {
    using targeted_ops = ops<toy::relu>;
    using produces = ops<toy::clamp>;
    value operator()(const args<toy::relu>& a, emit<produces>& e) const { return e.make<toy::clamp>(a.self); }
};

struct lowering : pipeline<from<toy::relu>, to<toy::clamp>, lower_relu> {};
