// SPDX-License-Identifier: MIT
// Defines a rewrite that omits an operand of an op.
// EXPECT: rule: a call or a pattern's node does not fit its op
// EXPECT: wrong_arity<headrace::toy::add, 1, 2>

#include <headrace/pass/pipeline.hpp>

#include "../support/toy.hpp"

using namespace headrace;

struct lower_relu : pass {
    static auto rewrites() {
        return rules(on<toy::relu> = [](auto x) { return call<toy::add>(x, x); });
    }
};

struct lowering : pipeline<from<toy::relu>, to<toy::add, toy::neg, toy::min_max>, lower_relu> {};
