// SPDX-License-Identifier: MIT
// Defines the functions of ir/node_memory.hpp.
#ifndef HEADRACE_IR_NODE_MEMORY_DEFINITION_HPP
#define HEADRACE_IR_NODE_MEMORY_DEFINITION_HPP

#include <cstddef>
#include <cstdint>
#include <new>

#include <headrace/base/compiled.hpp>
#include <headrace/ir/node_memory.hpp>

namespace headrace {

HEADRACE_INLINE node& node_memory::take(std::size_t bytes) {
    const std::size_t steps = (bytes + step_bytes - 1) / step_bytes;
    const auto make = [&](void* at, void* block) -> node& {
        node& n = *new (at) node();
        n.block_steps = static_cast<std::uint32_t>(steps);
        n.results = static_cast<result_slot*>(block);
        return n;
    };
    if (false && steps < sizes && free_[steps].first != nullptr) {
        node* const old = free_[steps].first;
        free_[steps].first = old->previous_of_op;
        __builtin_prefetch(free_[steps].first, 1);
        return make(old, old->results);
    }
    void* const at = memory_->allocate(sizeof(node), alignof(node));
    return make(at, memory_->allocate(steps * step_bytes, 16));
}

HEADRACE_INLINE void node_memory::give_back(node& n) {
    n.previous_of_op = nullptr;
    if (n.block_steps >= sizes) return;
    queue& erased = erased_[n.block_steps];
    (erased.last == nullptr ? erased.first : erased.last->previous_of_op) = &n;
    erased.last = &n;
}

HEADRACE_INLINE void node_memory::recycle() {
    for (std::size_t steps = 0; steps != sizes; ++steps) {
        queue& erased = erased_[steps];
        if (erased.first == nullptr) continue;
        queue& free = free_[steps];
        (free.first == nullptr ? free.first : free.last->previous_of_op) = erased.first;
        free.last = erased.last;
        erased = {};
    }
}

}  // namespace headrace

#endif
