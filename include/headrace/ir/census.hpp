// SPDX-License-Identifier: MIT
// Defines headrace::census, the number of nodes of each op in a graph, and their lists.
#ifndef HEADRACE_IR_CENSUS_HPP
#define HEADRACE_IR_CENSUS_HPP

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>

#include <headrace/ir/node.hpp>
#include <headrace/op/op_set.hpp>

namespace headrace {

/// The nodes of one op in a graph, in order of creation. Nodes may be erased and created during iteration.
class nodes_of_op {
public:
    /// A list of nodes; erased ones are null, and `first` skips those at the front.
    struct places {
        node** nodes = nullptr;
        std::uint32_t first = 0;
        std::uint32_t end = 0;
        std::uint32_t capacity = 0;
    };

    class iterator {
    public:
        using value_type = node;
        using difference_type = std::ptrdiff_t;
        using pointer = node*;
        using reference = node&;
        using iterator_category = std::forward_iterator_tag;

        iterator() = default;
        explicit iterator(const places& in) : in_(&in), at_(in.first) { skip_erased(); }
        node& operator*() const { return *node_; }
        node* operator->() const { return node_; }
        iterator& operator++() {
            ++at_;
            skip_erased();
            return *this;
        }
        iterator operator++(int) {
            iterator before = *this;
            ++*this;
            return before;
        }
        friend bool operator==(const iterator& a, const iterator& b) { return a.node_ == b.node_; }

    private:
        void skip_erased() {
            while (at_ != in_->end && in_->nodes[at_] == nullptr) ++at_;
            node_ = at_ == in_->end ? nullptr : in_->nodes[at_];
        }

        const places* in_ = nullptr;
        std::uint32_t at_ = 0;
        node* node_ = nullptr;
    };

    explicit nodes_of_op(const places* in) : in_(in) {}
    [[nodiscard]] iterator begin() const { return in_ == nullptr ? iterator() : iterator(*in_); }
    [[nodiscard]] iterator end() const { return iterator(); }
    [[nodiscard]] bool empty() const { return begin() == end(); }

private:
    const places* in_;
};

/// The ops of a graph, updated by every insertion and removal, so that a query never visits the nodes. Nodes
/// of nested regions count as present, too: a pass must run even if only a loop's body has its targets.
class census {
public:
    explicit census(std::pmr::memory_resource* arena) : arena_(arena) {}

    /// Returns the number of nodes of that op in this graph, without nested regions.
    [[nodiscard]] std::size_t count(const op_info& op) const {
        const entry* d = find(*op.dialect);
        return d == nullptr ? 0 : d->ops[op.index].count;
    }

    [[nodiscard]] headrace::nodes_of_op nodes_of(const op_info& op) const {
        const entry* d = find(*op.dialect);
        return headrace::nodes_of_op(d == nullptr ? nullptr : &d->ops[op.index].listed);
    }

    /// Returns a bit for each op of a dialect, set if it occurs here or in a nested region; empty if none
    /// does.
    [[nodiscard]] std::span<const std::uint64_t> present(const dialect_info& dialect) const {
        const entry* d = find(dialect);
        return d == nullptr ? std::span<const std::uint64_t>()
                            : std::span<const std::uint64_t>(d->present, d->words);
    }

    /// True if an op of the dialect occurs here or in a nested region.
    [[nodiscard]] bool contains(const dialect_info& dialect) const {
        for (const std::uint64_t word : present(dialect)) {
            if (word != 0) return true;
        }
        return false;
    }

    void insert(node& n);
    void remove(node& n);

    /// Sets the census that also counts this one's nodes as present: that of the graph around a region.
    void set_parent(census* parent) { parent_ = parent; }

    /// Calls `f(const op_info&, count)` for each op that occurs in this graph.
    template <class F>
    void for_each(F&& f) const {
        for (const entry& d : std::span(entries_, size_)) {
            for (std::size_t i = 0; i != d.dialect->op_count; ++i) {
                const bucket& b = d.ops[i];
                if (b.count != 0) f(*b.listed.nodes[b.listed.first]->op, std::size_t{b.count});
            }
        }
    }

private:
    struct bucket {
        nodes_of_op::places listed;
        std::uint32_t count = 0;
        std::uint32_t occurrences = 0;  // count, plus the nodes in nested regions
    };
    struct entry {
        const dialect_info* dialect;
        bucket* ops;
        std::uint64_t* present;
        std::size_t words;
    };

    [[nodiscard]] const entry* find(const dialect_info& dialect) const {
        for (const entry& d : std::span(entries_, size_)) {
            if (d.dialect == &dialect) return &d;
        }
        return nullptr;
    }
    bucket& bucket_of(const op_info& op) { return find_or_add(*op.dialect).ops[op.index]; }

    entry& find_or_add(const dialect_info& dialect);
    void grow();

    void mark(const op_info& op, int change);

    std::pmr::memory_resource* arena_;
    entry* entries_ = nullptr;
    std::size_t size_ = 0;
    std::size_t capacity_ = 0;
    census* parent_ = nullptr;
};

}  // namespace headrace

#ifndef HEADRACE_COMPILED
#include <headrace/ir/census_definition.hpp>
#endif

#endif
