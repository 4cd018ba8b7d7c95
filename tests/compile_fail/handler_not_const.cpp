// SPDX-License-Identifier: MIT
// Defines a pass whose handler is not const: passes are stateless, and constant where they run.
// EXPECT: pass: a handler is not const
// EXPECT: handler_not_const<lower_relu, headrace::toy::relu>

#include <headrace/pass/pipeline.hpp>

#include "../support/toy.hpp"

using namespace headrace;

struct lower_relu : pass {
    using targeted_ops = ops<toy::relu>;
    using produces = ops<toy::clamp>;
    value operator()(const args<toy::relu>& a, emit<produces>& e) { return e.make<toy::clamp>(a.self); }
};

struct lowering : pipeline<from<toy::relu>, to<toy::clamp>, lower_relu> {};
