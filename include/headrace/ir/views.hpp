// SPDX-License-Identifier: MIT
// Defines headrace::is_view: does a node give its operand's elements in another shape, and no more?
#ifndef HEADRACE_IR_VIEWS_HPP
#define HEADRACE_IR_VIEWS_HPP

#include <headrace/ir/node.hpp>

namespace headrace {

/// Can the result of that node lie where its first operand lies, because it has the same elements in the same
/// order? So it is for reshapes, of TOSA and of PyTorch. Tensors lie row by row here, so what only renames
/// axes is no computation; a permutation is one.
[[nodiscard]] inline bool is_view(const node& n) {
    if (!n.op->functional().has(trait::reshaping | trait::forwarding)) return false;
    if (n.result_count != 1 || n.operand_count == 0) return false;
    const tensor_meta* const from = meta_of(n.operand(0));
    const auto& to = n.results[0].meta;
    return from != nullptr && to && from->dtype == to->dtype && from->elements() == to->elements();
}

}  // namespace headrace

#endif
