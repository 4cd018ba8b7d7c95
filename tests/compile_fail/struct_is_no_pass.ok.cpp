// SPDX-License-Identifier: MIT
// Defines a pipeline that lists a struct that is not derived from headrace::pass.
// EXPECT: pass: a type is not one
// EXPECT: not_a_pass<lower_relu>

#include <headrace/pass/pipeline.hpp>

#include "../support/toy.hpp"

using namespace headrace;

struct lower_relu : pass {
    using targeted_ops = ops<toy::relu>;
    using produces = ops<toy::clamp>;
    value operator()(const args<toy::relu>& a, emit<produces>& e) const { return e.make<toy::clamp>(a.self); }
};

struct lowering : pipeline<from<toy::relu>, to<toy::clamp, toy::relu>, lower_relu> {};
