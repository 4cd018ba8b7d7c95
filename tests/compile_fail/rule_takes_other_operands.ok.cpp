// SPDX-License-Identifier: MIT
// Defines a rule whose callable takes more operands than the op has.
// EXPECT: rule: its callable does not take the operands
// EXPECT: in_rewrite<lower_relu, headrace::toy::relu, headrace::not_callable_with<headrace::toy::relu>>

#include <headrace/pass/pipeline.hpp>

#include "../support/toy.hpp"

using namespace headrace;

struct lower_relu : pass {
    static auto rewrites() {
        return rules(on<toy::relu> = [](auto x) { return call<toy::neg>(x); });
    }
};

struct lowering : pipeline<from<toy::relu>, to<toy::neg>, lower_relu> {};
