// SPDX-License-Identifier: MIT
// Defines headrace::npu_passes, which rewrite graphs to equivalent operators that the target runs faster.
#ifndef HEADRACE_PASSES_NPU_NPU_HPP
#define HEADRACE_PASSES_NPU_NPU_HPP

#include <headrace/passes/properties.hpp>
#ifdef HEADRACE_DEFINES_PASSES
#include <headrace/passes/npu/channel_factors.hpp>
#include <headrace/passes/npu/channel_selections.hpp>
#include <headrace/passes/npu/first_layers.hpp>
#include <headrace/passes/npu/quantized_arithmetic.hpp>
#include <headrace/passes/npu/strided_convolutions.hpp>
#include <headrace/passes/npu/strides_to_channels.hpp>
#include <headrace/passes/npu/transposed_convolutions.hpp>
#include <headrace/passes/npu/transposes.hpp>
#include <headrace/passes/npu/weights_on_chip.hpp>
#endif

namespace headrace {

/// The order does not matter. Targets without preferences skip them all (target/preferences.hpp).
using npu_passes = pass_list<merge_selections, strides_to_channels, interleave_rows, halve_windows,
    stage_image, pair_columns, read_last_column, convolve_sums, convolve_factors, pool_maxima,
    add_at_unit_scale, transpose_before_matmul, copy_before_planes, remove_whole_clamps>;

/// Run after constants are folded and merged.
using on_chip_passes = pass_list<keep_weights_on_chip>;

}  // namespace headrace

#endif
