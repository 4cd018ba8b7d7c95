// SPDX-License-Identifier: MIT
// Defines a pass over the real aten dialect that has no handler for one of its targets.
// EXPECT: pass: a target has no handler
// EXPECT: no_handler<lower_relu, headrace::aten::relu>

#include <headrace/pass/pipeline.hpp>

#include <headrace/dialect/aten.hpp>

using namespace headrace;

struct lower_relu : pass {
    using targets = ops<aten::clamp>;
    value operator()(const args<aten::clamp>& a, emit<ops<>>&) const { return a.self; }
};

struct lowering : pipeline<from<aten::dialect>, to<aten::dialect>, lower_relu> {};
