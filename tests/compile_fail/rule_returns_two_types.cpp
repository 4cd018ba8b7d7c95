// SPDX-License-Identifier: MIT
// Defines a rule that returns expressions of two types, which only `choose` can do.
// EXPECT: join_with_choose
// LINES: clang++ 19

#include <headrace/pass/pipeline.hpp>

#include "../support/toy.hpp"

using namespace headrace;

struct lower_relu : pass {
    static auto rewrites() {
        return rules(on<toy::relu> = [](auto x) {
            const auto other = call<toy::neg>(x);
            if (x.rank() == 2) return other;
            return call<toy::clamp>(x, 0);
        });
    }
};

struct lowering : pipeline<from<toy::relu>, to<toy::clamp, toy::neg>, lower_relu> {};
