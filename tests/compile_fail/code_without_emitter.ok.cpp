// SPDX-License-Identifier: MIT
// Defines a rule whose code takes only the arguments of the op.
// EXPECT: rule: its code has other parameters
// EXPECT: in_rewrite<lower_relu, headrace::toy::relu, headrace::not_code_for<headrace::toy::relu, headrace::ops<headrace::toy::clamp>>

#include <headrace/pass/pipeline.hpp>

#include "../support/toy.hpp"

using namespace headrace;

struct lower_relu : pass {
    using made = ops<toy::clamp>;
    static auto rewrites() {
        return rules(
            on<toy::relu> = code<made>([](emit<made> e, const auto& a) { return e.make<toy::clamp>({a.self}); }));
    }
};

struct lowering : pipeline<from<toy::relu>, to<toy::clamp>, lower_relu> {};
