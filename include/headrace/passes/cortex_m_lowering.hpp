// SPDX-License-Identifier: MIT
// Defines headrace::cortex_m_lowering, the pipeline from quantized TOSA to ExecuTorch's kernels for Cortex-M.
#ifndef HEADRACE_PASSES_CORTEX_M_LOWERING_HPP
#define HEADRACE_PASSES_CORTEX_M_LOWERING_HPP

#include <headrace/dialect/memory.hpp>
#include <headrace/pass/pipeline.hpp>
#include <headrace/passes/cortex_m/require_integer_kernels.hpp>

namespace headrace {

/// All of TOSA except CONST, which graphs hold as constants.
struct cortex_m_source {
    static constexpr auto set = every_op<tosa::dialect> - ops_in<tosa::const_>;
};

/// From a program that standard_lowering has lowered for the target INT+core, with dsp or mve if the core has
/// these, to integer kernels: those of the cortex_m dialect, and the ATen ops that move or compare integers,
/// which executorch_lowering replaces by the runtime's kernels.
struct cortex_m_lowering
    : pipeline<from<cortex_m_source>, to<cortex_m::dialect, memory::dialect, integer_kernel_ops>,
          require_integer_kernels> {};

}  // namespace headrace

#endif
