// SPDX-License-Identifier: MIT
// Defines a pass whose list of ensured properties is a property, not a list.
// EXPECT: pass: one of its lists is none
// EXPECT: not_a_list<lower_relu, headrace::fixed_string<8>{"ensures"}, lowered>

#include <headrace/pass/pipeline.hpp>

#include "../support/toy.hpp"

using namespace headrace;

struct lowered : property {};

struct lower_relu : pass {
    using ensures = pass_list<lowered>;
    static auto rewrites() { return rules(on<toy::relu> = call<toy::neg>); }
};

struct lowering : pipeline<from<toy::relu>, to<toy::neg>, lower_relu> {};
