// SPDX-License-Identifier: MIT
// Defines headrace::node, an operation in a graph, and headrace::edge, one of its operands.
#ifndef HEADRACE_IR_NODE_HPP
#define HEADRACE_IR_NODE_HPP

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <headrace/base/intrusive_range.hpp>
#include <headrace/ir/annotation.hpp>
#include <headrace/ir/tensor_meta.hpp>
#include <headrace/op/op.hpp>

namespace headrace {

/// An operand of a node: an edge of the graph from the producer of a value to the node that uses it.
struct edge {
    node* source = nullptr;
    node* target = nullptr;
    std::uint32_t operand = 0;  ///< position among the target's operands, list members counted one by one
    value* slot = nullptr;      ///< where the target's arguments hold it; slot->result is the result index
    edge* previous_use = nullptr;
    edge* next_use = nullptr;
};

/// A result of a node.
struct result_slot {
    const tensor_meta* meta =
        nullptr;            ///< `val`; may be missing, and then inference must run before it is asked for
    std::string_view name;  ///< the exported program's name for it, or empty
};

/// An operation. Its address is its descriptor, stable until it is erased. Only headrace::graph may modify
/// nodes; other code reads the members. The members that iteration reads are in the first cache line.
struct alignas(64) node {
    const op_info* op = nullptr;
    node* next = nullptr;       ///< execution order
    void* arguments = nullptr;  ///< the args struct of `op`
    result_slot* results = nullptr;
    edge* operands = nullptr;
    edge* first_use = nullptr;
    std::uint32_t id = 0;  ///< unique in the graph, below graph::id_bound()
    std::uint32_t result_count = 0;
    std::uint32_t operand_count = 0;
    std::uint32_t place_of_op = 0;  ///< index in the census's list of the nodes of its op
    graph* owner = nullptr;
    edge* last_use = nullptr;
    node* previous = nullptr;
    annotation* annotations = nullptr;
    std::uint64_t position = 0;  ///< in the execution order, with gaps; see graph::is_before

    [[nodiscard]] std::span<const edge> operand_edges() const { return {operands, operand_count}; }
    [[nodiscard]] value operand(std::size_t i) const { return *operands[i].slot; }
    [[nodiscard]] auto uses() const { return intrusive_range<edge, &edge::next_use>(first_use); }
    [[nodiscard]] std::string_view name() const {
        return result_count == 0 ? std::string_view() : results[0].name;
    }
    [[nodiscard]] value result(std::uint32_t i = 0) { return {this, i}; }

    template <class T>
    [[nodiscard]] const T* find_annotation() const {
        return find_in<T>(annotations);
    }
};

template <op_tag Op>
[[nodiscard]] constexpr bool is(const node& n) {
    return n.op == &info_of<Op>;
}

/// True if the op of a node is of that dialect.
template <class Dialect>
[[nodiscard]] constexpr bool is_of_dialect(const node& n) {
    return n.op->dialect == &info_of_dialect<Dialect>;
}

/// Returns the arguments of a node, which must be of that op.
template <op_tag Op>
[[nodiscard]] const args<Op>& args_of(const node& n) {
    return *static_cast<const args<Op>*>(n.arguments);
}

/// Returns the arguments of a node if it is of that op, else null.
template <op_tag Op>
[[nodiscard]] const args<Op>* args_if(const node& n) {
    return is<Op>(n) ? &args_of<Op>(n) : nullptr;
}

/// Calls `f(Op{}, arguments)` if the node's op is in the list.
template <class... Ops, class F>
void visit_args(ops<Ops...>, const node& n, F&& f) {
    static_cast<void>(((is<Ops>(n) && (f(Ops{}, args_of<Ops>(n)), true)) || ...));
}

/// Returns the arguments of the node that produces a value if it is of that op, else null.
template <op_tag Op>
[[nodiscard]] const args<Op>* match(value v) {
    return v ? args_if<Op>(*v.producer) : nullptr;
}

/// Returns the metadata of a value, or null if it is missing.
[[nodiscard]] inline const tensor_meta* meta_of(value v) { return v.producer->results[v.result].meta; }

/// Returns the number of operands that are this value.
[[nodiscard]] inline std::size_t use_count(value v) {
    const bool is_only_result = v.producer->result_count == 1;
    std::size_t count = 0;
    for (const edge& e : v.producer->uses()) count += is_only_result || e.slot->result == v.result;
    return count;
}
[[nodiscard]] inline bool has_one_use(value v) { return use_count(v) == 1; }
/// True if some node has it as an operand.
[[nodiscard]] inline bool is_used(value v) {
    if (v.producer->result_count == 1) return v.producer->first_use != nullptr;
    return use_count(v) != 0;
}

/// Returns a node's name for messages: that of the exported node that it descends from, or its own.
[[nodiscard]] inline std::string_view origin_name(const node& n) {
    const auto* origin = n.find_annotation<provenance>();
    return origin != nullptr ? origin->node_name : n.name();
}

}  // namespace headrace

#endif
