// SPDX-License-Identifier: MIT
// Defines headrace::node_memory, where the nodes of a graph lie.
#ifndef HEADRACE_IR_NODE_MEMORY_HPP
#define HEADRACE_IR_NODE_MEMORY_HPP

#include <array>
#include <cstddef>
#include <memory_resource>

#include <headrace/ir/node.hpp>

namespace headrace {

/// The memory of nodes, which is used again: most nodes of a lowering are replaced by others. What a node
/// refers to (results, arguments, operands) lies in one block, which it keeps.
class node_memory {
public:
    /// `memory` gives nothing back.
    explicit node_memory(std::pmr::memory_resource* memory) : memory_(memory) {}
    node_memory(const node_memory&) = delete;
    node_memory& operator=(const node_memory&) = delete;

    /// An empty node, whose block has room for that many bytes, aligned to 16. `results` is its begin.
    [[nodiscard]] node& take(std::size_t bytes);
    /// The node has been erased. It may still be read, until `recycle`.
    void give_back(node& n);
    /// From now on, new nodes take the places of those that were given back.
    void recycle();

private:
    // Nodes with blocks of one size, linked by `previous_of_op`. The first that was erased is the first to be
    // used, so that nodes that are made in a walk lie as those did that the walk before met.
    struct queue {
        node* first = nullptr;
        node* last = nullptr;
    };
    static constexpr std::size_t step_bytes = 32;
    static constexpr std::size_t sizes = 16;

    std::pmr::memory_resource* memory_;
    std::array<queue, sizes> erased_{};  // by the size of the block, in steps; the few with larger ones stay
    std::array<queue, sizes> free_{};
};

}  // namespace headrace

#ifndef HEADRACE_COMPILED
#include <headrace/ir/node_memory_definition.hpp>
#endif

#endif
