// SPDX-License-Identifier: MIT
// Defines a rewrite that calls something that is not an op.
// EXPECT: rule: a call or a pattern's node does not fit its op
// EXPECT: unknown_op<plus>

#include <headrace/pass/pipeline.hpp>

#include "../support/toy.hpp"

using namespace headrace;

struct plus {};

struct lower_relu : pass {
    static auto rewrites() {
        return rules(on<toy::relu> = [](auto x) { return call<toy::neg>(x); });
    }
};

struct lowering : pipeline<from<toy::relu>, to<toy::clamp, toy::neg, toy::min_max>, lower_relu> {};
