// SPDX-License-Identifier: MIT
// Defines a rule with a list that lacks an op which its code may emit.
// EXPECT: rule: its code emits an op that is not in its list
// EXPECT: in_rewrite<lower_relu, headrace::toy::relu, headrace::not_produced<headrace::toy::clamp, headrace::ops<

#include <headrace/pass/pipeline.hpp>

#include "../support/toy.hpp"

using namespace headrace;

struct lower_relu : pass {
    using made = ops<toy::clamp>;
    static auto rewrites() { return rules(on<toy::relu> = code<ops<>>(clamped)); }
    static constexpr auto clamped = [](emit<made> e, const auto& a) { return e.make<toy::clamp>({a.self}); };
};

result<node_counts> lower(graph& g, pass_context& context) { return apply_pass(lower_relu{}, g, context); }
