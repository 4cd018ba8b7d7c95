// SPDX-License-Identifier: MIT
// Compiles all passes, the standard pipeline and the TOSA emitter for a Cortex-M, as a check.
#include <headrace/base/pmr_vector.hpp>
#include <headrace/io/tosa_emitter.hpp>
#include <headrace/passes/passes.hpp>

namespace {

using namespace headrace;

// Folds nothing: CPU kernels have no place on a device.
struct no_evaluator {
    using tensor_type = int;
    static result<pmr_vector<int>> evaluate(const node&, std::span<const int>) {
        return unsupported("no evaluation");
    }
    static void store(int, const tensor_meta&, std::span<std::byte>) {}
};

}  // namespace

headrace::result<std::span<const std::byte>> lower(graph& g, std::span<std::byte> buffer);
headrace::result<std::span<const std::byte>> lower(graph& g, std::span<std::byte> buffer) {
    pass_context context;
    HEADRACE_TRY(standard_lowering<no_evaluator>::run_unchecked(g, context));
    return emit_tosa(g, buffer);
}
