// SPDX-License-Identifier: MIT
// Defines a pass that lists a target for which it has no handler.
// EXPECT: pass: a target has no handler
// EXPECT: no_handler<lower_relus, headrace::toy::relu6>

#include <headrace/pass/pipeline.hpp>

#include "../support/toy.hpp"

using namespace headrace;

struct lower_relus : pass {
    using targets = ops<toy::relu>;
    using produces = ops<toy::clamp>;
    value operator()(const args<toy::relu>& a, emit<produces>& e) const { return e.make<toy::clamp>(a.self); }
};

struct lowering : pipeline<from<toy::relu>, to<toy::clamp>, lower_relus> {};
