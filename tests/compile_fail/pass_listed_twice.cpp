// SPDX-License-Identifier: MIT
// Defines a pipeline that lists a pass twice although it is not repeatable.
// EXPECT: pipeline: a pass is listed twice
// EXPECT: listed_twice<lower_relu>

#include <headrace/pass/pipeline.hpp>

#include "../support/toy.hpp"

using namespace headrace;

struct lower_relu6 : pass {
    using targets = ops<toy::relu6>;
    using produces = ops<toy::relu>;
    value operator()(const args<toy::relu6>& a, emit<produces>& e) const { return e.make<toy::relu>(a.self); }
};
struct lower_relu : pass {
    using targets = ops<toy::relu>;
    using produces = ops<toy::clamp>;
    value operator()(const args<toy::relu>& a, emit<produces>& e) const { return e.make<toy::clamp>(a.self); }
};

struct lowering : pipeline<from<toy::relu6>, to<toy::clamp>, lower_relu, lower_relu6, lower_relu> {};
