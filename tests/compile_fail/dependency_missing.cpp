// SPDX-License-Identifier: MIT
// Defines a pipeline that lacks a pass required by another one.
// EXPECT: pipeline: a required pass is not in the list
// EXPECT: unmet<lower_relu, lower_relu6>

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
    using requires_before = pass_list<lower_relu6>;
    value operator()(const args<toy::relu>& a, emit<produces>& e) const { return e.make<toy::clamp>(a.self); }
};

struct lowering : pipeline<from<toy::relu>, to<toy::clamp>, lower_relu> {};
