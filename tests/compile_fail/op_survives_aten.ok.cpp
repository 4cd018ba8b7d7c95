// SPDX-License-Identifier: MIT
// Defines a pipeline over the real aten dialect after which one of hundreds of ops can be left.
// EXPECT: pipeline: an op can survive it
// EXPECT: survives<headrace::aten::relu, lower_relu>

#include <headrace/pass/pipeline.hpp>

#include <headrace/dialect/aten.hpp>

using namespace headrace;

struct lower_relu : pass {
    using targets = ops<aten::relu>;
    using produces = ops<aten::clamp>;
    value operator()(const args<aten::relu>& a, emit<produces>&) const { return a.self; }
};

struct all_but_relu {
    static constexpr auto set = every_op<aten::dialect> - ops_in<aten::relu>;
};
struct lowering : pipeline<from<aten::dialect>, to<all_but_relu>, lower_relu> {};
