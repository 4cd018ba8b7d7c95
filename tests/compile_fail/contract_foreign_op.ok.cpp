// SPDX-License-Identifier: MIT
// Defines a model with an op that Headrace does not know.
// EXPECT: pipeline_does_not_lower<
// EXPECT: fixed_string<16>{"mine.op.default"}>, headrace::no_pass>

#include <headrace/contract/contract.hpp>
#include <headrace/pass/pipeline.hpp>

#include <headrace/dialect/aten.hpp>

using namespace headrace;

struct lower_relu : pass {
    using targets = ops<aten::relu>;
    using produces = ops<tosa::clamp>;
    value operator()(const args<aten::relu>& a, emit<produces>&) const { return a.self; }
};
struct firmware_pipeline : pipeline<from<aten::relu>, to<tosa::dialect>, lower_relu> {};

struct model {
    using exported_ops = ops<aten::relu>;
    static constexpr std::array<contract_tensor, 1> inputs{{{"x", dtype::float32, {1, 8}}}};
    static constexpr std::array<contract_tensor, 1> outputs{{{"y", dtype::float32, {1, 8}}}};
};
static_assert(lowers<firmware_pipeline, model>);
