// SPDX-License-Identifier: MIT
// The passes of passes/executorch are compiled here.
#include <headrace/compiled/pass_codes.hpp>

#include <headrace/passes/executorch/fit_kernels.hpp>
#include <headrace/passes/executorch/scans_to_loops.hpp>
#include <headrace/passes/executorch/select_kernels.hpp>
#include <headrace/passes/executorch/spell_kernel_ops.hpp>

namespace headrace {

template struct detail::pass_codes<pass_list<convolve_slices, fit_kernels, saturate_quantization,
    scans_to_loops, store_empty_results, spell_kernel_ops, select_kernels, require_kernels>>;

}  // namespace headrace
