// SPDX-License-Identifier: MIT
// Declares headrace::lower_quantized_parts, which lowers the quantized parts of a program to kernels for
// Cortex-M.
#ifndef HEADRACE_LOWERING_KERNELS_KERNEL_PARTS_HPP
#define HEADRACE_LOWERING_KERNELS_KERNEL_PARTS_HPP

#include <cstddef>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include <headrace/base/result.hpp>
#include <headrace/base/target_spec.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/pass/statistics.hpp>

namespace headrace {

/// The exported nodes of a program, by their annotation.
struct kernel_parts {
    std::unordered_set<const provenance*> inside{};                ///< computed with integers
    std::unordered_map<const provenance*, std::string> outside{};  ///< with the reasons
    std::size_t parts = 0;
};

/// Replaces what a functional graph, or one nested in it, computes between dequantize and quantize nodes by
/// kernels of the cortex_m dialect and ATen ops on integers, in place. Each part is first lowered as a whole;
/// nodes that a lowering refuses stay, and the part is split around them. `core` is INT+core, the target of
/// the lowering to TOSA in between.
[[nodiscard]] result<kernel_parts> lower_quantized_parts(graph& g, const target_spec& core);

/// Returns the stage that observers see once the graph has these kernels.
[[nodiscard]] inline pass_record kernels_record(std::size_t parts) {
    return {.name = "select_integer_kernels", .status = pass_status::ran, .nodes = {.rewritten = parts}};
}

}  // namespace headrace

#endif
