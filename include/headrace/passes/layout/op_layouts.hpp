// SPDX-License-Identifier: MIT
// Defines headrace::op_layouts, the layouts of an op's tensors, and headrace::node_port, one of these
// tensors.
#ifndef HEADRACE_PASSES_LAYOUT_OP_LAYOUTS_HPP
#define HEADRACE_PASSES_LAYOUT_OP_LAYOUTS_HPP

#include <cstddef>
#include <cstdint>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/ir/node.hpp>
#include <headrace/passes/layout/layout_algebra.hpp>

namespace headrace {

/// The layouts of the tensors that an op reads and produces.
struct op_layouts {
    pmr_vector<layout> operands;  ///< of the data operands, which come first
    layout result;

    friend bool operator==(const op_layouts&, const op_layouts&) = default;
};

/// An operand of a node, or its result.
struct node_port {
    static constexpr std::size_t result = SIZE_MAX;

    std::size_t index = result;  ///< index of the operand

    [[nodiscard]] bool is_result() const { return index == result; }
};

namespace layout_rules {

[[nodiscard]] inline sizes shape_of(value v) { return meta_of(v)->shape; }

[[nodiscard]] inline sizes port_shape(const node& n, node_port port) {
    return port.is_result() ? sizes(n.results[0].meta->shape) : shape_of(n.operand(port.index));
}

}  // namespace layout_rules

}  // namespace headrace

#endif
