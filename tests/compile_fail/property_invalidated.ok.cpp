// SPDX-License-Identifier: MIT
// Defines a pipeline in which a pass invalidates a property that the last one requires.
// EXPECT: pipeline: a property no longer holds
// EXPECT: invalidated<lower_relu, folded, lower_relu6>

#include <headrace/pass/pipeline.hpp>

#include "../support/toy.hpp"

using namespace headrace;

struct folded : property {};
struct fold : pass {
    using ensures = pass_list<folded>;
    result<std::size_t> operator()(graph&, pass_context&) const { return std::size_t{0}; }
};
struct lower_relu6 : pass {
    using targeted_ops = ops<toy::relu6>;
    using produces = ops<toy::relu>;
    using invalidates = pass_list<folded>;
    value operator()(const args<toy::relu6>& a, emit<produces>& e) const { return e.make<toy::relu>(a.self); }
};
struct lower_relu : pass {
    using targeted_ops = ops<toy::relu>;
    using produces = ops<toy::clamp>;
    using runs_after = pass_list<folded>;
    value operator()(const args<toy::relu>& a, emit<produces>& e) const { return e.make<toy::clamp>(a.self); }
};

struct lowering : pipeline<from<toy::relu6>, to<toy::clamp, toy::relu>, lower_relu6, fold, lower_relu> {};
