// SPDX-License-Identifier: MIT
// Defines a rule one of whose alternatives returns nothing.
// EXPECT: rule: it does not return a value for each result
// EXPECT: not_an_expression<void>

#include <headrace/pass/pipeline.hpp>

#include "../support/toy.hpp"

using namespace headrace;

struct lower_relu : pass {
    static auto rewrites() {
        return rules(on<toy::relu> = [](auto x) {
            const auto negated = [&] { static_cast<void>(call<toy::neg>(x)); };
            return choose(x.rank() == 2, negated, [&] { return call<toy::clamp>(x, 0); });
        });
    }
};

struct lowering : pipeline<from<toy::relu>, to<toy::clamp, toy::neg>, lower_relu> {};
