// SPDX-License-Identifier: MIT
// Defines a rule that returns one expression for an op with two results.
// EXPECT: rule: it does not return a value for each result
// EXPECT: wrong_result_count<headrace::toy::min_max, 1, 2>

#include <headrace/pass/pipeline.hpp>

#include "../support/toy.hpp"

using namespace headrace;

struct lower_min_max : pass {
    static auto rewrites() {
        return rules(on<toy::min_max> = [](auto x) { return std::tuple(x, call<toy::neg>(x)); });
    }
};

struct lowering : pipeline<from<toy::min_max>, to<toy::neg>, lower_min_max> {};
