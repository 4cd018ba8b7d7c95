// SPDX-License-Identifier: MIT
// Defines a pipeline to kernels for Cortex-M and of the runtime after which an op without one can be left.
// EXPECT: pipeline: an op can survive it
// EXPECT: survives<headrace::aten::logaddexp, headrace::no_pass, headrace::emitted_by<lower_greater> >

#include <headrace/dialect/executorch.hpp>
#include <headrace/passes/cortex_m/require_integer_kernels.hpp>

#include <headrace/infer/aten.hpp>
#include <headrace/infer/tosa.hpp>
#include <headrace/pass/pipeline.hpp>

using namespace headrace;

struct lower_greater : pass {
    static auto rewrites() {
        return rules(on<tosa::greater> = [](auto x, auto y) { return call<aten::logaddexp>(x, y); });
    }
};

struct lowering
    : pipeline<from<tosa::greater, tosa::add>, to<cortex_m::dialect, executorch::kernel_ops>, lower_greater,
          require_integer_kernels> {};
