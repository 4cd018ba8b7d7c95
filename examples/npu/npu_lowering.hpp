// SPDX-License-Identifier: MIT
// The pipeline from ATen to the NPU.
#ifndef HEADRACE_EXAMPLES_NPU_LOWERING_HPP
#define HEADRACE_EXAMPLES_NPU_LOWERING_HPP

//! [pipeline]
#include "npu_passes.hpp"

namespace npu {

/// Compiles only because every op of select_ops' ends as one of the NPU's, and because the order is kept.
struct lowering : pipeline<from<select_ops::targeted_ops>, to<dialect>, select_ops, fold_affine, fuse_relu> {
};

}  // namespace npu
//! [pipeline]

#endif
