// SPDX-License-Identifier: MIT
// Defines a rewrite that passes an op more arguments than it has.
// EXPECT: rule: a call or a pattern's node does not fit its op
// EXPECT: wrong_arity<headrace::toy::neg, 2, 1>

#include <headrace/pass/pipeline.hpp>

#include "../support/toy.hpp"

using namespace headrace;

struct lower_relu : pass {
    static auto rewrites() {
        return rules(on<toy::relu> = [](auto x) { return call<toy::neg>(x); });
    }
};

struct lowering : pipeline<from<toy::relu>, to<toy::clamp, toy::neg, toy::min_max>, lower_relu> {};
