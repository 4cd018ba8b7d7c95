// SPDX-License-Identifier: MIT
// Compiles all passes, the standard pipeline and the TOSA emitter for a Cortex-M, as a check.
#include <headrace/base/pmr_vector.hpp>
#include <headrace/io/tosa/emitter.hpp>
#include <headrace/passes/passes.hpp>

using namespace headrace;

result<std::span<const std::byte>> lower(graph& g, std::span<std::byte> buffer);
result<std::span<const std::byte>> lower(graph& g, std::span<std::byte> buffer) {
    pass_context context;  // no evaluator: kernels of the host have no place on a device
    HEADRACE_TRY(standard_lowering::run_unchecked(g, context));
    return emit_tosa(g, buffer);
}
