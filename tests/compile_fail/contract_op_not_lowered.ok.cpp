// SPDX-License-Identifier: MIT
// Defines a firmware whose pipeline lacks a pass for an op of its model.
// EXPECT: pipeline_does_not_lower<firmware_pipeline, headrace::survives<headrace::aten::gelu,
// headrace::no_pass>>

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
