// SPDX-License-Identifier: MIT
// Defines a pipeline that runs a pass after one that must come after it.
// EXPECT: pipeline: a required order is violated
// EXPECT: misordered<lower_relu6, lower_relu>

#include <headrace/pass/pipeline.hpp>

#include "../support/toy.hpp"

using namespace headrace;

struct lower_relu : pass {
    using targets = ops<toy::relu>;
    using produces = ops<toy::clamp>;
    value operator()(const args<toy::relu>& a, emit<produces>& e) const { return e.make<toy::clamp>(a.self); }
};
struct lower_relu6 : pass {
    using targets = ops<toy::relu6>;
    using produces = ops<toy::relu>;
    using requires_after = pass_list<lower_relu>;
    value operator()(const args<toy::relu6>& a, emit<produces>& e) const { return e.make<toy::relu>(a.self); }
};

struct lowering : pipeline<from<toy::relu6>, to<toy::clamp, toy::relu>, lower_relu, lower_relu6> {};
