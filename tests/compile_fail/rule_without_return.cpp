// SPDX-License-Identifier: MIT
// Defines a rule whose callable forgets to return its expression.
// EXPECT: rule: it does not return a value for each result
// EXPECT: in_rewrite<lower_relu, headrace::toy::relu, headrace::not_an_expression<void>>

#include <headrace/pass/pipeline.hpp>

#include "../support/toy.hpp"

using namespace headrace;

struct lower_relu : pass {
    static auto rewrites() {
        return rules(on<toy::relu> = [](auto x) { call<toy::neg>(x); });
    }
};

struct lowering : pipeline<from<toy::relu>, to<toy::clamp, toy::neg, toy::min_max>, lower_relu> {};
