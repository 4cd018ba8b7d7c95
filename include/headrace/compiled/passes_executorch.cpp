// SPDX-License-Identifier: MIT
// The passes of passes/executorch are compiled here.
#include <headrace/compiled/pass_codes.hpp>

#include <headrace/passes/executorch/saturate_quantization.hpp>
#include <headrace/passes/executorch/select_kernels.hpp>
#include <headrace/passes/executorch/spell_kernel_ops.hpp>

namespace headrace {

template struct detail::pass_codes<
    pass_list<saturate_quantization, spell_kernel_ops, select_kernels, require_kernels>>;

}  // namespace headrace
