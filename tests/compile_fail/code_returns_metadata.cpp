// SPDX-License-Identifier: MIT
// Defines a rule whose code returns a dtype instead of a value.
// EXPECT: rule: it does not return a value for each result
// EXPECT: not_values<headrace::dtype>

#include <headrace/pass/pipeline.hpp>

#include "../support/toy.hpp"

using namespace headrace;

struct lower_relu : pass {
    using made = ops<toy::clamp>;
    static auto rewrites() {
        return rules(
            on<toy::relu> = code<made>([](emit<made> e, const auto& a) { return e.dtype(a.self); }));
    }
};

struct lowering : pipeline<from<toy::relu>, to<toy::clamp>, lower_relu> {};
