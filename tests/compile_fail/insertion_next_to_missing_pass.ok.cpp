// SPDX-License-Identifier: MIT
// Defines an edit of a pipeline next to a pass that it does not have.
// EXPECT: pipeline: an edit names a pass that is not in it
// EXPECT: not_listed<lower_relu6

#include <headrace/pass/algebra.hpp>

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

struct lowering : pipeline<from<toy::relu>, to<toy::clamp>, lower_relu> {};
struct edited : insert_before<lowering, lower_relu, lower_relu6> {};
