// SPDX-License-Identifier: MIT
// Defines headrace::node, an operation in a graph, and headrace::edge, one of its operands.
#ifndef HEADRACE_IR_NODE_HPP
#define HEADRACE_IR_NODE_HPP

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <headrace/base/lists.hpp>
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

/// User metadata of a node: a value of any trivially copyable type, found by that type. Nodes with a common
/// origin share their inherited annotations; the first of a type counts.
struct annotation {
    const void* key;
    const void* data;
    bool inherited;  ///< copied to nodes that replace this one
    annotation* next;
};

template <class T>
inline constexpr char annotation_key = 0;

/// Returns the annotation of that type in a node's list, or null.
template <class T>
[[nodiscard]] const T* find_in(const annotation* annotations) {
    for (const annotation* a = annotations; a != nullptr; a = a->next) {
        if (a->key == &annotation_key<T>) return static_cast<const T*>(a->data);
    }
    return nullptr;
}

/// Annotation: the exported node that a node descends from, for every message about it.
struct provenance {
    static constexpr bool inherited = true;
    std::string_view node_name;
    std::string_view op_name;
};

/// Annotation: a further exported node that a node descends from, after a rewrite of several nodes into one;
/// see for_each_origin in ir/origins.hpp.
struct joined_origin {
    static constexpr bool inherited = true;
    const annotation* annotations;  ///< of the joined node, including its own joined origins
    const joined_origin* next;
};

/// Annotation: the `custom` metadata of a `.pt2` node, JSON text as the exporter wrote it.
struct custom_metadata {
    static constexpr bool inherited = true;
    std::string_view json;
};

/// Annotation: the `nn_module_stack` metadata of a `.pt2` node, as the exporter wrote it.
struct module_stack {
    static constexpr bool inherited = true;
    std::string_view text;
};

/// A forward range over an intrusive list.
template <class T, T* T::*Next>
class intrusive_range {
public:
    class iterator {
    public:
        using value_type = T;
        using difference_type = std::ptrdiff_t;
        using pointer = T*;
        using reference = T&;
        using iterator_category = std::forward_iterator_tag;

        constexpr iterator() = default;
        explicit constexpr iterator(T* at) : at_(at) {}
        constexpr T& operator*() const { return *at_; }
        constexpr T* operator->() const { return at_; }
        constexpr iterator& operator++() {
            at_ = at_->*Next;
            return *this;
        }
        constexpr iterator operator++(int) {
            iterator before = *this;
            ++*this;
            return before;
        }
        friend constexpr bool operator==(const iterator&, const iterator&) = default;

    private:
        T* at_ = nullptr;
    };

    explicit constexpr intrusive_range(T* first) : first_(first) {}
    [[nodiscard]] constexpr iterator begin() const { return iterator(first_); }
    [[nodiscard]] constexpr iterator end() const { return iterator(); }
    [[nodiscard]] constexpr bool empty() const { return first_ == nullptr; }

private:
    T* first_;
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
    std::uint32_t id = 0;  ///< unique in the graph; see graph::tidy
    std::uint32_t result_count = 0;
    std::uint32_t operand_count = 0;
    std::int32_t ahead = 0;  ///< distance to a later node; see noted_ahead
    graph* owner = nullptr;
    edge* last_use = nullptr;
    node* previous = nullptr;
    annotation* annotations = nullptr;
    std::uint64_t position = 0;     ///< in the execution order, with gaps; see graph::is_before
    std::uint32_t place_of_op = 0;  ///< index in the census's list of the nodes of its op

    [[nodiscard]] list<edge> operand_edges() const { return {operands, operand_count}; }
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

/// Returns a node that came some way after this one in the order when it was recorded; `ahead` is the
/// distance in units of the node's alignment. Iteration over a list knows only the next node, so each step
/// waits for memory if the graph exceeds the caches; a recorded node can be prefetched early (history
/// pointers of C.-K. Luk and T. C. Mowry, "Compiler-Based Prefetching for Recursive Data Structures", ASPLOS
/// 1996).
inline const node* noted_ahead(const node& n) {
    return reinterpret_cast<const node*>(
        reinterpret_cast<const std::byte*>(&n) + std::ptrdiff_t{n.ahead} * std::ptrdiff_t{alignof(node)});
}
/// Records `later` as the node to prefetch, or nothing if it is too far away.
inline void note_ahead(node& n, const node* later) {
    const std::intptr_t steps =
        (reinterpret_cast<std::intptr_t>(later) - reinterpret_cast<std::intptr_t>(&n)) /
        std::intptr_t{alignof(node)};
    n.ahead = static_cast<std::int32_t>(steps) == steps ? static_cast<std::int32_t>(steps) : 0;
}

inline constexpr std::size_t cache_line = 64;

/// Prefetches the memory that a node refers to, from its results to its operands. If the graph exceeds the
/// caches, a pass spends most of its time waiting for memory.
inline void prefetch(const node& n) {
    const auto* const end = reinterpret_cast<const std::byte*>(n.operands + n.operand_count);
    for (const auto* at = reinterpret_cast<const std::byte*>(n.results); at < end; at += cache_line)
        __builtin_prefetch(at);
}

/// Prefetches nodes a few steps after index i, with their data. `node_at(i)` returns the i-th node.
template <class NodeAt>
void prefetch_after(std::size_t i, std::size_t count, NodeAt&& node_at) {
    constexpr std::size_t distance = 4;
    if (i + 2 * distance < count) __builtin_prefetch(node_at(i + 2 * distance));
    if (i + distance < count) prefetch(*node_at(i + distance));
}

/// Prefetches for rewriting: later nodes, the types of their operands and the users of their results.
template <class NodeAt>
void prefetch_to_rewrite(std::size_t i, std::size_t count, NodeAt&& node_at) {
    if (i + 8 < count) {
        const node* const n = node_at(i + 8);
        __builtin_prefetch(n);
        __builtin_prefetch(reinterpret_cast<const std::byte*>(n) + cache_line);
    }
    if (i + 4 < count) {
        const node& n = *node_at(i + 4);
        prefetch(n);
        __builtin_prefetch(n.annotations);
        __builtin_prefetch(n.first_use);
    }
    if (i + 2 < count) {
        for (const edge& e : node_at(i + 2)->operand_edges()) __builtin_prefetch(e.source);
    }
    if (i + 1 < count) {
        for (const edge& e : node_at(i + 1)->operand_edges()) __builtin_prefetch(e.source->results);
    }
}

/// The nodes of a graph in execution order, with later ones prefetched, and with `Parts` also the data that
/// they refer to. Erased nodes keep their memory, so prefetching is safe whatever a pass does to the graph.
template <bool Parts>
class node_range {
public:
    class iterator {
    public:
        using value_type = node;
        using difference_type = std::ptrdiff_t;
        using pointer = node*;
        using reference = node&;
        using iterator_category = std::forward_iterator_tag;

        iterator() = default;
        explicit iterator(node* at) : at_(at), ahead_(at) {
            for (int i = 0; Parts && i != distance; ++i) fetch_parts();
        }
        node& operator*() const { return *at_; }
        node* operator->() const { return at_; }
        iterator& operator++() {
            __builtin_prefetch(noted_ahead(*at_));
            at_ = at_->next;
            if constexpr (Parts) fetch_parts();
            return *this;
        }
        iterator operator++(int) {
            iterator before = *this;
            ++*this;
            return before;
        }
        friend bool operator==(const iterator& a, const iterator& b) { return a.at_ == b.at_; }

    private:
        static constexpr int distance = 8;

        void fetch_parts() {
            if (ahead_ == nullptr) return;
            ahead_ = ahead_->next;
            if (ahead_ != nullptr) prefetch(*ahead_);
        }

        node* at_ = nullptr;
        const node* ahead_ = nullptr;
    };

    explicit node_range(node* first) : first_(first) {}
    [[nodiscard]] iterator begin() const { return iterator(first_); }
    [[nodiscard]] iterator end() const { return iterator(); }
    [[nodiscard]] bool empty() const { return first_ == nullptr; }

private:
    node* first_;
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
