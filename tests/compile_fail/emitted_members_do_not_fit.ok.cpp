// SPDX-License-Identifier: MIT
// Defines a pass that passes a number for an op's tensor.
// EXPECT: emit: an op does not have such members
// EXPECT: no_such_members<headrace::toy::clamp, int, headrace::value>

#include <headrace/rewrite/emit.hpp>

#include <headrace/pass/pipeline.hpp>

#include "../support/toy.hpp"

using namespace headrace;

struct lower_relu : pass {
    using targeted_ops = ops<toy::relu>;
    using produces = ops<toy::clamp>;
    value operator()(const args<toy::relu>& a, emit<produces>& e) const {
        return e.make<toy::clamp>(a.self, 0);
    }
};

struct lowering : pipeline<from<toy::relu>, to<toy::clamp>, lower_relu> {};
