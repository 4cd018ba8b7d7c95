// SPDX-License-Identifier: MIT
// Defines headrace::cortex_m_lowering, the pipeline from quantized TOSA to ExecuTorch's kernels for Cortex-M.
#ifndef HEADRACE_PASSES_CORTEX_M_LOWERING_HPP
#define HEADRACE_PASSES_CORTEX_M_LOWERING_HPP

#include <headrace/dialect/executorch.hpp>
#include <headrace/dialect/memory.hpp>
#include <headrace/pass/pipeline.hpp>
#include <headrace/passes/cortex_m/arithmetic.hpp>
#include <headrace/passes/cortex_m/bounds.hpp>
#include <headrace/passes/cortex_m/convolutions.hpp>
#include <headrace/passes/cortex_m/expanded_channels.hpp>
#include <headrace/passes/cortex_m/fold_rescaled_constants.hpp>
#include <headrace/passes/cortex_m/groups.hpp>
#include <headrace/passes/cortex_m/moves.hpp>
#include <headrace/passes/cortex_m/narrow_moves.hpp>
#include <headrace/passes/cortex_m/pooling.hpp>
#include <headrace/passes/cortex_m/products.hpp>
#include <headrace/passes/cortex_m/require_integer_kernels.hpp>
#include <headrace/passes/cortex_m/resize.hpp>
#include <headrace/passes/cortex_m/softmax.hpp>
#include <headrace/passes/cortex_m/sums.hpp>
#include <headrace/passes/cortex_m/tables.hpp>
#include <headrace/passes/cortex_m/tables_merging.hpp>
#include <headrace/passes/cortex_m/volumes.hpp>
#include <headrace/passes/device/fuse_layers.hpp>
#include <headrace/passes/fold/fold_constants.hpp>
#include <headrace/passes/fold/redundancies.hpp>

namespace headrace {

/// All of TOSA except CONST, which graphs hold as constants.
struct cortex_m_source {
    static constexpr auto set = every_op<tosa::dialect> - ops_in<tosa::const_>;
};

/// From a program that standard_lowering has lowered for the target INT+core, with dsp or mve if the core has
/// these, to integer kernels: those of the cortex_m dialect, and those that the runtime has for ATen ops that
/// move or compare integers, which executorch_lowering selects.
struct cortex_m_lowering
    : pipeline<from<cortex_m_source>,
          to<cortex_m::dialect, memory::dialect, executorch::kernel_ops, aten::view>, fold_padding,
          narrow_moves, remove_dead_code, fold_constants, select_softmax, rejoin_groups, convolve_resizes,
          convolve_volumes, select_convolutions, select_products, select_sums, select_arithmetic,
          select_pooling, clamp_in_kernels, tabulate_integers, select_moves, remove_dead_code,
          fold_rescaled_constants, merge_tables, merge_equal_constants, merge_duplicates, convolve_expanded,
          require_integer_kernels> {};

}  // namespace headrace

#endif
