// SPDX-License-Identifier: MIT
// The dialect and the pipeline of examples/npu, for each way to get Headrace.
#include "npu_lowering.hpp"

static_assert(npu::lowering::supported.contains<headrace::aten::conv2d>());
static_assert(!npu::lowering::ops_after().contains<headrace::aten::conv2d>());
