// SPDX-License-Identifier: MIT
// Compiles all passes and the standard pipeline for a Cortex-M, as a check: from the single headers with
// HEADRACE_SINGLE, otherwise with the TOSA emitter, which they lack.
#ifdef HEADRACE_SINGLE
#include "headrace_passes.hpp"
#else
#include <headrace/base/pmr_vector.hpp>
#include <headrace/io/tosa/emitter.hpp>
#include <headrace/passes/passes.hpp>
#endif

using namespace headrace;

static_assert(every_op<tosa::dialect>.contains<tosa::add>());

result<void> lower(graph& g);
result<void> lower(graph& g) {
    pass_context context;  // no evaluator: kernels of the host have no place on a device
    HEADRACE_TRY(standard_lowering::run_unchecked(g, context));
    return {};
}

#ifndef HEADRACE_SINGLE
result<std::span<const std::byte>> emit(const graph& g, std::span<std::byte> buffer);
result<std::span<const std::byte>> emit(const graph& g, std::span<std::byte> buffer) {
    return emit_tosa(g, buffer);
}
#endif
