// SPDX-License-Identifier: MIT
// Defines a pipeline that requires a property at its end that no pass ensures.
// EXPECT: pipeline: a required pass is not in the list
// EXPECT: unmet<headrace::end_of_pipeline, folded>

#include <headrace/pass/pipeline.hpp>

#include "../support/toy.hpp"

using namespace headrace;

struct folded : property {};
struct lower_relu : pass {
    using targeted_ops = ops<toy::relu>;
    using produces = ops<toy::clamp>;
    value operator()(const args<toy::relu>& a, emit<produces>& e) const { return e.make<toy::clamp>(a.self); }
};

struct lowering : pipeline<from<toy::relu>, to<toy::clamp, folded>, lower_relu> {};
