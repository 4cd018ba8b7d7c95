// SPDX-License-Identifier: MIT
// Defines a rewrite that passes an op an argument of the wrong type.
// EXPECT: rule: a call or a pattern's node does not fit its op
// EXPECT: in_rewrite<lower_relu, headrace::toy::relu, headrace::wrong_argument<headrace::toy::clamp, headrace::fixed_string<4>{"min"}, headrace::dtype, headrace::scalar>>

#include <headrace/pass/pipeline.hpp>

#include "../support/toy.hpp"

using namespace headrace;

struct lower_relu : pass {
    static auto rewrites() {
        return rules(on<toy::relu> = [](auto x) { return call<toy::clamp>(x, x.dtype()); });
    }
};

struct lowering : pipeline<from<toy::relu>, to<toy::clamp, toy::neg, toy::min_max>, lower_relu> {};
