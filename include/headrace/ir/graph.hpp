// SPDX-License-Identifier: MIT
// Defines headrace::graph, the run-time graph that passes rewrite.
#ifndef HEADRACE_IR_GRAPH_HPP
#define HEADRACE_IR_GRAPH_HPP

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <new>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include <headrace/base/target_spec.hpp>
#include <headrace/dialect/builtin.hpp>
#include <headrace/ir/arena.hpp>
#include <headrace/ir/census.hpp>
#include <headrace/ir/meta_table.hpp>
#include <headrace/ir/node.hpp>

namespace headrace {

/// A program as a directed acyclic graph of nodes, kept in an order in which they can be executed. It models
/// Boost.Graph's bidirectional graph (ir/boost_graph.hpp), with nodes as vertices and operands as edges, so
/// that Boost.Graph's algorithms run on it.
///
/// Everything that a graph holds is in its arena and lives as long as the graph: nodes, arguments, metadata,
/// names and the data of constants that passes create. Erased nodes keep their memory but are in no list.
class graph {
public:
    explicit graph(std::pmr::memory_resource* upstream = std::pmr::get_default_resource())
        : memory_(upstream), arena_(&memory_), census_(arena_), metas_(arena_) {}
    graph(const graph&) = delete;
    graph& operator=(const graph&) = delete;

    // --- reading -----------------------------------------------------------------------

    /// Iterates over nodes in execution order. Read `next` before erasing the current node.
    [[nodiscard]] auto nodes() const { return intrusive_range<node, &node::next>(first_); }
    [[nodiscard, deprecated("use nodes()")]] auto nodes_alone() const { return nodes(); }
    [[nodiscard]] node* first() const { return first_; }
    [[nodiscard]] node* last() const { return last_; }
    [[nodiscard]] std::size_t size() const { return size_; }
    /// True if `a` is known to precede `b` in the execution order; false if so many nodes were inserted
    /// between them that positions ran out.
    [[nodiscard]] static bool is_before(const node& a, const node& b) { return a.position < b.position; }
    /// An upper bound of node ids, exclusive.
    [[nodiscard]] std::uint32_t id_bound() const { return next_id_; }
    [[deprecated("does nothing: ids stay as they are")]] void tidy() {}
    [[nodiscard]] const headrace::census& census() const { return census_; }
    [[nodiscard]] nodes_of_op nodes_of(const op_info& op) const { return census_.nodes_of(op); }

    /// Inputs in the order of the program's signature.
    [[nodiscard]] auto inputs() const { return nodes_of(info_of<builtin::placeholder>); }
    /// Returns the output node, or null while the graph is being built.
    [[nodiscard]] node* output() const {
        const auto found = nodes_of(info_of<builtin::output>);
        return found.empty() ? nullptr : &*found.begin();
    }
    [[nodiscard]] list<value> outputs() const {
        const node* out = output();
        return out == nullptr ? list<value>() : args_of<builtin::output>(*out).values;
    }

    /// Returns the target of the lowering, for passes.
    [[nodiscard]] const target_spec& target() const {
        return parent_ != nullptr ? parent_->target() : target_;
    }
    void set_target(const target_spec& target) { target_ = target; }

    // --- building and rewriting --------------------------------------------------------

    /// Adds a node before `before`, or at the end. `arguments` must be an args struct of `op`; its lists and
    /// strings are copied.
    node& create(const op_info& op, const void* arguments, std::size_t results, node* before = nullptr);

    template <op_tag Op>
        requires(Op::results != variadic_results)
    node& create(const args<Op>& arguments, node* before = nullptr) {
        return create(info_of<Op>, &arguments, static_cast<std::size_t>(Op::results), before);
    }
    template <op_tag Op>
        requires(Op::results == variadic_results)
    node& create(const args<Op>& arguments, std::size_t results, node* before = nullptr) {
        return create(info_of<Op>, &arguments, results, before);
    }

    /// Removes an unused node.
    void erase(node& n);

    /// Changes only the execution order: moves `n` directly before `before`, or to the end.
    void move_before(node& n, node* before) {
        if (&n == before) return;
        unlink(n);
        link(n, before);
    }

    /// Changes only the execution order: `order` must hold each node of the graph once.
    void reorder(std::span<node* const> order) {
        first_ = last_ = nullptr;
        size_ = 0;
        for (node* n : order) link(*n, nullptr);
    }

    void set_operand(edge& e, value to) {
        unlink_use(e);
        *e.slot = to;
        link_use(e);
    }

    /// Makes every user of `from` use `to` instead, except the node `except`.
    void replace_all_uses(value from, value to, const node* except = nullptr) {
        for (edge* e = from.producer->first_use; e != nullptr;) {
            edge* next = e->next_use;
            if (e->slot->result == from.result && e->target != except) set_operand(*e, to);
            e = next;
        }
    }

    void set_meta(value v, const tensor_meta& meta) {
        v.producer->results[v.result].meta = outermost().metas_.find_or_add(meta);
    }
    void clear_meta(value v) { v.producer->results[v.result].meta = nullptr; }
    void set_name(value v, std::string_view name) { v.producer->results[v.result].name = own(name); }

    /// Attaches metadata to a node, replacing any of its type. `T` may hold strings and lists of the arena.
    template <class T>
    void annotate(node& n, const T& data) {
        static_assert(std::is_trivially_copyable_v<T>,
            "annotation: must be trivially copyable; keep lists in the arena");
        T* copy = make<T>(data);
        if constexpr (!T::inherited) {
            for (annotation* a = n.annotations; a != nullptr; a = a->next) {
                if (a->key == &annotation_key<T>) {
                    a->data = copy;
                    return;
                }
            }
        }
        // Prepended, because the older annotation of that type may be shared with other nodes.
        n.annotations = make<annotation>(&annotation_key<T>, copy, T::inherited, n.annotations);
    }

    /// Gives `to` the inheritable annotations of `from` that it lacks, and joins their origins.
    void inherit_annotations(node& to, const node& from);

    /// Adds the origins of `from` to those of `to`. Messages name the first origin of `to`; for_each_origin
    /// visits all. Does nothing if either node has no exported origin, or both have the same one.
    void join_origins(node& to, const node& from);

    /// Adds a nested graph, such as a branch of a condition, in this graph's arena.
    graph& create_region();
    [[nodiscard]] graph* parent() const { return parent_; }
    [[nodiscard]] auto regions() const { return intrusive_range<graph, &graph::next_region_>(first_region_); }

    // --- memory ------------------------------------------------------------------------

    [[nodiscard]] std::pmr::memory_resource* arena() { return arena_; }
    [[nodiscard]] std::string_view own(std::string_view text);
    [[nodiscard]] int_list own(const int_list& items) {
        if (!items.is_view()) return items;
        return int_list(
            std::span<const std::int64_t>(copy_array(*arena_, items.data(), items.size()), items.size()));
    }
    template <class T>
    [[nodiscard]] list<T> own(const list<T>& items) {
        return {copy_array(*arena_, items.data(), items.size()), items.size()};
    }
    /// Allocates the data of a constant, aligned to 16 bytes.
    [[nodiscard]] std::span<std::byte> allocate_data(std::size_t bytes) {
        outermost().data_bytes_ += bytes;
        return {static_cast<std::byte*>(arena_->allocate(bytes == 0 ? 1 : bytes, 16)), bytes};
    }
    /// Returns the total size of allocate_data's memory, including regions; none of it is freed.
    [[nodiscard]] std::uint64_t data_bytes() { return outermost().data_bytes_; }

private:
    [[nodiscard]] graph& outermost() { return parent_ != nullptr ? parent_->outermost() : *this; }

    // A region allocates from its parent's arena.
    struct region_of_this {};
    graph(graph& parent, region_of_this)
        : memory_(std::pmr::null_memory_resource()),
          arena_(parent.arena_),
          census_(arena_),
          metas_(arena_),
          parent_(&parent) {
        census_.set_parent(&parent.census_);
    }

    template <class T, class... Args>
    T* make(Args&&... arguments) {
        return new (arena_->allocate(sizeof(T), alignof(T))) T(std::forward<Args>(arguments)...);
    }

    [[nodiscard]] list<std::string_view> own_texts(const list<std::string_view>& texts);
    // Copies the lists and strings of the arguments into the arena.
    void own_arguments(node& n);

    static bool all_inherited(const annotation* annotations);

    static void link_use(edge& e) {
        node& source = *e.slot->producer;
        e.source = &source;
        e.previous_use = source.last_use;
        e.next_use = nullptr;
        (source.last_use == nullptr ? source.first_use : source.last_use->next_use) = &e;
        source.last_use = &e;
    }
    static void unlink_use(edge& e) {
        node& source = *e.source;
        (e.previous_use == nullptr ? source.first_use : e.previous_use->next_use) = e.next_use;
        (e.next_use == nullptr ? source.last_use : e.next_use->previous_use) = e.previous_use;
    }
    void unlink(node& n) {
        (n.previous == nullptr ? first_ : n.previous->next) = n.next;
        (n.next == nullptr ? last_ : n.next->previous) = n.previous;
        --size_;
    }
    // Returns a position soon after `previous`: insertions usually come in runs, so room is left.
    static std::uint64_t position_between(const node* previous, const node* before) {
        constexpr std::uint64_t step = std::uint64_t{1} << 32U;
        const std::uint64_t from = previous == nullptr ? 0 : previous->position;
        if (before != nullptr) return from + (before->position - from) / 8;
        return from < UINT64_MAX - step ? from + step : UINT64_MAX;
    }
    void link(node& n, node* before) {
        n.next = before;
        n.previous = before == nullptr ? last_ : before->previous;
        n.position = position_between(n.previous, before);
        (n.previous == nullptr ? first_ : n.previous->next) = &n;
        (before == nullptr ? last_ : before->previous) = &n;
        ++size_;
    }

    headrace::arena memory_;
    std::pmr::memory_resource* arena_;
    headrace::census census_;
    meta_table metas_;  // the outermost graph's is used
    node* first_ = nullptr;
    node* last_ = nullptr;
    std::size_t size_ = 0;
    std::uint32_t next_id_ = 0;
    std::uint64_t data_bytes_ = 0;
    target_spec target_{};
    graph* parent_ = nullptr;
    graph* first_region_ = nullptr;
    graph* next_region_ = nullptr;
};

/// Creates a constant of that type and shape, row-major, whose elements are in memory from allocate_data.
value create_constant(graph& g, const tensor_meta& meta, node* before, std::span<std::byte> data);
/// Creates a constant of that type and shape, row-major, whose elements `fill(std::span<std::byte>)` writes.
template <class Fill>
value create_constant(graph& g, const tensor_meta& meta, node* before, Fill&& fill) {
    const std::span<std::byte> data = g.allocate_data(bytes_in_memory(meta));
    fill(data);
    return create_constant(g, meta, before, data);
}

}  // namespace headrace

#ifndef HEADRACE_COMPILED
#include <headrace/ir/graph_definition.hpp>
#endif

#endif
