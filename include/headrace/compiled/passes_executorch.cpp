// SPDX-License-Identifier: MIT
// The passes of passes/executorch are compiled here.
#include <headrace/compiled/pass_codes.hpp>

#include <headrace/passes/executorch/convolve_slices.hpp>
#include <headrace/passes/executorch/saturate_quantization.hpp>
#include <headrace/passes/executorch/scans_to_loops.hpp>
#include <headrace/passes/executorch/select_kernels.hpp>
#include <headrace/passes/executorch/spell_kernel_ops.hpp>

namespace headrace {

template struct detail::pass_codes<pass_list<convolve_slices, saturate_quantization, scans_to_loops,
                                             spell_kernel_ops, select_kernels, require_kernels>>;

}  // namespace headrace
