// SPDX-License-Identifier: MIT
// The pipeline to ExecuTorch is proven here, and the passes of passes/executorch compiled.
#include <headrace/compiled/pass_codes.hpp>

#include <headrace/lowering/executorch_pipeline_definition.hpp>

namespace headrace {

template struct detail::pass_codes<pass_list<spell_kernel_ops, select_kernels, require_kernels>>;

}  // namespace headrace
