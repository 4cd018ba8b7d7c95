// SPDX-License-Identifier: MIT
// Runs a pipeline with a pass that is only declared: it has neither a definition nor compiled code.
// EXPECT: pass: its code is not here
// EXPECT: only_declared<lower_relu>

#include <headrace/pass/pipeline.hpp>

#include "../support/toy.hpp"

using namespace headrace;

struct lower_relu : pass {
    using produces = ops<toy::clamp>;
    value operator()(const args<toy::relu>& a, emit<produces>& e) const { return e.make<toy::clamp>(a.self); }
};

template <>
struct headrace::declared_pass<lower_relu> : declared_rewrites {
    using targets = ops<toy::relu>;
    using removes = targets;
    using produces = ops<toy::clamp>;
    static constexpr bool is_compiled = false;
    static constexpr std::string_view name = "lower_relu";
    static constexpr std::string_view summary = "Clamps where a relu was";
};

struct lowering : pipeline<from<toy::relu>, to<toy::clamp>, lower_relu> {};

result<run_statistics> lower(graph& g, pass_context& context) { return lowering::run(g, context); }
