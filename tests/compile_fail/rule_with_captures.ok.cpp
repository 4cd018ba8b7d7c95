// SPDX-License-Identifier: MIT
// Defines a rule whose callable captures a number.
// EXPECT: rule: its callable has captures

#include <headrace/rewrite/rules.hpp>

#include <headrace/pass/pipeline.hpp>

#include "../support/toy.hpp"

using namespace headrace;

inline constexpr int lowest = 0;

struct lower_relu : pass {
    static auto rewrites() {
        return rules(on<toy::relu> = [](auto x) { return call<toy::clamp>(x, lowest); });
    }
};

struct lowering : pipeline<from<toy::relu>, to<toy::clamp>, lower_relu> {};
