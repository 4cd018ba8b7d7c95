// SPDX-License-Identifier: MIT
// Defines a function that applies a pass that has a handler but no targets.
// EXPECT: pass: it has handlers but no targets
// EXPECT: no_targets<lower_relu>

#include <headrace/pass/pipeline.hpp>

#include "../support/toy.hpp"

using namespace headrace;

struct lower_relu : pass {
    using target_list = ops<toy::relu>;
    using produces = ops<toy::clamp>;
    value operator()(const args<toy::relu>& a, emit<produces>& e) const { return e.make<toy::clamp>(a.self); }
};

bool lower(graph& g, pass_context& context) { return apply_pass(lower_relu{}, g, context).has_value(); }
