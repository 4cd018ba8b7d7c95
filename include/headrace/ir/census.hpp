// SPDX-License-Identifier: MIT
// Defines headrace::census: how many nodes of each op a graph has, and which.
#ifndef HEADRACE_IR_CENSUS_HPP
#define HEADRACE_IR_CENSUS_HPP

#include <cstdint>
#include <memory_resource>
#include <span>

#include <headrace/ir/node.hpp>
#include <headrace/op/op_set.hpp>

namespace headrace {

/// Kept true by every insertion and removal, so that asking which ops a graph has never visits its nodes.
/// Nodes of nested regions count as present, too: a pass must run if only a loop's body has its targets.
class census {
public:
    explicit census(std::pmr::memory_resource* arena) : arena_(arena) {}

    /// Nodes of that op in this graph, nested regions left out.
    [[nodiscard]] std::size_t count(const op_info& op) const {
        const entry* d = find(*op.dialect);
        return d == nullptr ? 0 : d->ops[op.index].count;
    }

    /// Those nodes, in the order in which they were created.
    [[nodiscard]] auto nodes_of(const op_info& op) const {
        const entry* d = find(*op.dialect);
        return intrusive_range<node, &node::next_of_op>(d == nullptr ? nullptr : d->ops[op.index].first);
    }

    /// One bit for each op of a dialect that occurs here or in a nested region; empty if none does.
    [[nodiscard]] std::span<const std::uint64_t> present(const dialect_info& dialect) const {
        const entry* d = find(dialect);
        return d == nullptr ? std::span<const std::uint64_t>()
                            : std::span<const std::uint64_t>(d->present, d->words);
    }

    void insert(node& n);
    void remove(node& n);

    /// The census that also counts this one's nodes as present: that of the graph around a region.
    void set_parent(census* parent) { parent_ = parent; }

    /// Calls `f(const op_info&, count)` for each op that occurs in this graph.
    template <class F>
    void for_each(F&& f) const {
        for (const entry& d : std::span(entries_, size_)) {
            for (std::size_t i = 0; i != d.dialect->op_count; ++i) {
                if (d.ops[i].first != nullptr) f(*d.ops[i].first->op, std::size_t{d.ops[i].count});
            }
        }
    }

private:
    struct bucket {
        node* first = nullptr;
        node* last = nullptr;
        std::uint32_t count = 0;
        std::uint32_t occurrences = 0;  // count, and those in nested regions
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
