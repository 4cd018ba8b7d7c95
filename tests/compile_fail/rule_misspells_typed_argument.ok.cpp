// SPDX-License-Identifier: MIT
// Defines a rule that misspells an argument of its op, whose type it names: the compiler suggests the name.
// EXPECT: ; did you mean 'min'?

#include <headrace/pass/pipeline.hpp>

#include "../support/toy.hpp"

using namespace headrace;

struct lower_clamp : pass {
    static auto rewrites() {
        return rules(on<toy::clamp> = [](auto x, const args<toy::clamp>& a) {
            return call<toy::neg>(a.min == scalar(0) ? x : x);
        });
    }
};

struct lowering : pipeline<from<toy::clamp>, to<toy::neg>, lower_clamp> {};

result<run_statistics> run(graph& g, pass_context& context) { return lowering::run(g, context); }
