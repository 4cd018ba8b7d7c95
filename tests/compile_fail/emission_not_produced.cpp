// SPDX-License-Identifier: MIT
// Defines a pass that emits an op that it does not list in `produces`.
// EXPECT: emit: op is not in the pass's `produces`
// EXPECT: not_produced<headrace::toy::add, headrace::ops<headrace::toy::clamp>

#include <headrace/rewrite/emit.hpp>

#include <headrace/pass/pipeline.hpp>

#include "../support/toy.hpp"

using namespace headrace;

struct lower_relu : pass {
    using targets = ops<toy::relu>;
    using produces = ops<toy::clamp>;
    value operator()(const args<toy::relu>& a, emit<produces>& e) const {
        return e.make<toy::add>({.self = a.self, .other = a.self});
    }
};

struct lowering : pipeline<from<toy::relu>, to<toy::clamp, toy::add>, lower_relu> {};
