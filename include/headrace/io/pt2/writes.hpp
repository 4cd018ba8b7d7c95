// SPDX-License-Identifier: MIT
// Defines headrace::pt2::written_in_place, which finds the inputs and buffers that a program writes in place.
#ifndef HEADRACE_IO_PT2_WRITES_HPP
#define HEADRACE_IO_PT2_WRITES_HPP

#include <algorithm>
#include <vector>

#include <headrace/io/program.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace::pt2 {

/// An input or a stored tensor. Its name is not empty.
struct written_tensor {
    node* tensor;
    mutation::kind_type kind;
};

namespace detail {

/// True if the result shares the memory of the first operand.
[[nodiscard]] inline bool shares_memory(const node& n) {
    if (n.operand_count == 0) return false;
    const op_info& op = n.op->functional();
    const tensor_meta* const from = meta_of(n.operand(0));
    const tensor_meta* const to = n.result_count == 0 ? nullptr : meta_of(value{const_cast<node*>(&n), 0});
    if (op.has(trait::casting)) return from != nullptr && to != nullptr && from->dtype == to->dtype;
    return n.op->has(trait::aliasing | trait::in_place);
}

/// Returns the node that owns the memory of a value.
[[nodiscard]] inline node& owner_of(value v) {
    while (shares_memory(*v.producer)) v = v.producer->operand(0);
    return *v.producer;
}

}  // namespace detail

/// Returns the inputs and stored tensors that in-place ops write to, in order. Exports that were not
/// decomposed have such ops, and do not say in their signature that the caller sees the new values.
[[nodiscard]] inline std::vector<written_tensor> written_in_place(graph& g) {
    std::vector<written_tensor> written;
    for (const node& n : g.nodes()) {
        const bool writes = n.op->has(trait::in_place) && !n.op->functional().has(trait::aliasing);
        if (!writes || n.operand_count == 0) continue;
        node& owner = detail::owner_of(n.operand(0));
        const bool is_input = is<builtin::placeholder>(owner);
        if (owner.name().empty() || (!is_input && !is<builtin::constant>(owner)) ||
            std::ranges::find(written, &owner, &written_tensor::tensor) != written.end())
            continue;
        written.push_back({&owner, is_input ? mutation::kind_type::user_input : mutation::kind_type::buffer});
    }
    return written;
}

}  // namespace headrace::pt2

#endif
