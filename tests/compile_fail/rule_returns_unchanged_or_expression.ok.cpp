// SPDX-License-Identifier: MIT
// Defines a rule that returns `unchanged` and an expression, which only `choose` can do.
// EXPECT: join_with_choose
// LINES: clang++ 19

#include <headrace/pass/pipeline.hpp>

#include "../support/toy.hpp"

using namespace headrace;

struct lower_relu : pass {
    static auto rewrites() {
        return rules(on<toy::relu> = [](auto x) {
            if (x.rank() == 2) return unchanged;
            return unchanged;
        });
    }
};

struct lowering : pipeline<from<toy::relu>, to<toy::relu, toy::neg>, lower_relu> {};

result<run_statistics> run(graph& g, pass_context& context) { return lowering::run(g, context); }
