// SPDX-License-Identifier: MIT
// Defines a pass whose rewrites() forgets to return its rules.
// EXPECT: pass: rewrites() gives no rules
// EXPECT: no_rules<lower_relu, void>

#include <headrace/pass/pipeline.hpp>

#include "../support/toy.hpp"

using namespace headrace;

struct lower_relu : pass {
    static auto rewrites() { rules(on<toy::relu> = call<toy::neg>); }
};

struct lowering : pipeline<from<toy::relu>, to<toy::neg>, lower_relu> {};
