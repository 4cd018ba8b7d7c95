// SPDX-License-Identifier: MIT
// Defines a pipeline after which two ops can be left: one that no pass targets, and one that a pass makes.
// EXPECT: pipeline: an op can survive it
// EXPECT: survivors<headrace::survives<headrace::toy::relu, headrace::no_pass, headrace::emitted_by<lower_relu6> >, headrace::survives<headrace::toy::neg, headrace::no_pass> >

#include <headrace/pass/pipeline.hpp>

#include "../support/toy.hpp"

using namespace headrace;

struct lower_relu6 : pass {
    using targeted_ops = ops<toy::relu6>;
    using produces = ops<toy::relu>;
    value operator()(const args<toy::relu6>& a, emit<produces>& e) const { return e.make<toy::relu>(a.self); }
};

struct lowering : pipeline<from<toy::relu6, toy::neg>, to<toy::clamp>, lower_relu6> {};
