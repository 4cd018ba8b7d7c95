// SPDX-License-Identifier: MIT
// Defines a rule for a dialect instead of an op.
// EXPECT: rule: it is for something that is not an op
// EXPECT: unknown_op<headrace::toy::dialect>

#include <headrace/rewrite/rules.hpp>

#include <headrace/pass/pipeline.hpp>

#include "../support/toy.hpp"

using namespace headrace;

struct lower_relu : pass {
    static auto rewrites() {
        return rules(on<toy::dialect> = [](auto x) { return call<toy::neg>(x); });
    }
};

struct lowering : pipeline<from<toy::relu>, to<toy::neg>, lower_relu> {};
