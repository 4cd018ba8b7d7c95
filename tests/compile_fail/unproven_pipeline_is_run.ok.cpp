// SPDX-License-Identifier: MIT
// Runs a pipeline after which an op can be left: its use is no further error.
// EXPECT: pipeline: an op can survive it
// EXPECT: survives<headrace::toy::relu6, headrace::no_pass>

#include <headrace/pass/pipeline.hpp>

#include "../support/toy.hpp"

using namespace headrace;

struct lower_relu : pass {
    static auto rewrites() { return rules(on<toy::relu> = call<toy::neg>); }
};

struct lowering : pipeline<from<toy::relu>, to<toy::neg>, lower_relu> {};

result<run_statistics> run(graph& g, pass_context& context) { return lowering::run(g, context); }
