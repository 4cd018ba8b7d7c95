// SPDX-License-Identifier: MIT
// Defines a rule that returns a dtype instead of an expression that uses it.
// EXPECT: rule: it does not return a value for each result
// EXPECT: not_an_expression<headrace::dtype>

#include <headrace/pass/pipeline.hpp>

#include "../support/toy.hpp"

using namespace headrace;

struct lower_relu : pass {
    static auto rewrites() {
        return rules(on<toy::relu> = [](auto x) { return call<toy::neg>(x); });
    }
};

struct lowering : pipeline<from<toy::relu>, to<toy::clamp, toy::neg, toy::min_max>, lower_relu> {};
