// SPDX-License-Identifier: MIT
// Defines a pass whose list of ops is an op, not a list.
// EXPECT: pass: one of its lists is none
// EXPECT: not_a_list<lower_relu, headrace::fixed_string<13>{"targeted_ops"}, headrace::toy::relu>

#include <headrace/pass/pipeline.hpp>

#include "../support/toy.hpp"

using namespace headrace;

struct lower_relu : pass {
    using targeted_ops = toy::relu;
    using produces = ops<toy::neg>;
    value operator()(const args<toy::relu>& a, emit<produces>& e) const { return e.make<toy::neg>(a.self); }
};

struct lowering : pipeline<from<toy::relu>, to<toy::neg>, lower_relu> {};
