// SPDX-License-Identifier: MIT
// Defines a pass whose rewrites() is not static.
// EXPECT: pass: rewrites() gives no rules
// EXPECT: no_rules<lower_relu, headrace::not_static>

#include <headrace/pass/pipeline.hpp>

#include "../support/toy.hpp"

using namespace headrace;

struct lower_relu : pass {
    auto rewrites() { return rules(on<toy::relu> = call<toy::neg>); }
};

struct lowering : pipeline<from<toy::relu>, to<toy::neg>, lower_relu> {};
