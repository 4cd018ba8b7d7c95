// SPDX-License-Identifier: MIT
// Defines headrace::replace_node.
#ifndef HEADRACE_IR_REPLACE_NODE_HPP
#define HEADRACE_IR_REPLACE_NODE_HPP

#include <cstdint>

#include <headrace/ir/graph.hpp>

namespace headrace {

/// Puts a node of another op in the place of `n`, which is erased: the new one has its results, with their
/// metadata and names, and its annotations.
inline void replace_node(node& n, const op_info& op, const void* arguments) {
    graph& g = *n.owner;
    node& made = g.create(op, arguments, n.result_count, &n);
    for (std::uint32_t i = 0; i != n.result_count; ++i) {
        made.results[i] = n.results[i];
        g.replace_all_uses(n.result(i), made.result(i));
    }
    g.inherit_annotations(made, n);
    g.erase(n);
}

}  // namespace headrace

#endif
