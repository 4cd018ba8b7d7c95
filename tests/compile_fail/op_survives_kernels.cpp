// SPDX-License-Identifier: MIT
// Defines a pipeline to the integer kernels of Cortex-M after which an ATen op can be left that is none of them.
// EXPECT: pipeline: an op can survive it
// EXPECT: survives<headrace::aten::mul_tensor, headrace::no_pass, headrace::emitted_by<lower_greater> >

#include <headrace/passes/cortex_m/require_integer_kernels.hpp>

#include <headrace/infer/aten.hpp>
#include <headrace/infer/tosa.hpp>
#include <headrace/pass/pipeline.hpp>

using namespace headrace;

struct lower_greater : pass {
    static auto rewrites() {
        return rules(on<tosa::greater> = [](auto x, auto y) { return call<aten::mul_tensor>(x, y); });
    }
};

struct lowering
    : pipeline<from<tosa::greater, tosa::add>, to<cortex_m::dialect, integer_kernel_ops>, lower_greater,
          require_integer_kernels> {};
