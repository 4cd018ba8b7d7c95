// SPDX-License-Identifier: MIT
// Defines headrace::is_view, true for nodes that only reshape their operand.
#ifndef HEADRACE_IR_VIEWS_HPP
#define HEADRACE_IR_VIEWS_HPP

#include <headrace/ir/node.hpp>

namespace headrace {

/// True if the result can share the memory of the first operand because it has the same elements in the same
/// order, as in reshapes of TOSA and PyTorch. Tensors are row-major here, so a permutation of axes is a copy.
[[nodiscard]] inline bool is_view(const node& n) {
    if (!n.op->functional().has(trait::reshaping | trait::forwarding)) return false;
    if (n.result_count != 1 || n.operand_count == 0) return false;
    const tensor_meta* const from = meta_of(n.operand(0));
    const auto& to = n.results[0].meta;
    return from != nullptr && to && from->dtype == to->dtype && from->elements() == to->elements();
}

}  // namespace headrace

#endif
