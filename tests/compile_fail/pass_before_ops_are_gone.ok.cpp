// SPDX-License-Identifier: MIT
// Defines a pipeline that fuses CLAMPs while there are still ops of ATen, which may become more CLAMPs.
// EXPECT: pipeline: a pass runs before ops are gone
// EXPECT: too_early<headrace::fuse_clamps, headrace::tosa_only, headrace::aten::flip>

#include <headrace/pass/pipeline.hpp>

#include <headrace/passes/fold/redundancies.hpp>
#include <headrace/passes/legalize/slicing.hpp>

using namespace headrace;

struct lowering : pipeline<from<aten::flip, tosa::clamp>, to<tosa::dialect>, legalize_flip, fuse_clamps> {};
