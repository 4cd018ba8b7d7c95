// SPDX-License-Identifier: MIT
// Defines a rule whose code captures a number.
// EXPECT: rule: its callable has captures

#include <headrace/rewrite/rules.hpp>

#include <headrace/pass/pipeline.hpp>

#include "../support/toy.hpp"

using namespace headrace;

inline constexpr int lowest = 0;

struct lower_relu : pass {
    using made = ops<toy::clamp>;
    static auto rewrites() {
        return rules(
            on<toy::relu> = code<made>([](emit<made> e, const auto& a) { return e.make<toy::clamp>({a.self}); }));
    }
};

struct lowering : pipeline<from<toy::relu>, to<toy::clamp>, lower_relu> {};
