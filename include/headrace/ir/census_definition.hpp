// SPDX-License-Identifier: MIT
// Defines the functions of ir/census.hpp.
#ifndef HEADRACE_IR_CENSUS_DEFINITION_HPP
#define HEADRACE_IR_CENSUS_DEFINITION_HPP

#include <cstdint>
#include <span>

#include <headrace/base/compiled.hpp>
#include <headrace/ir/arena.hpp>
#include <headrace/ir/node.hpp>
#include <headrace/op/op_set.hpp>

namespace headrace {

HEADRACE_INLINE void census::insert(node& n) {
    bucket& b = bucket_of(*n.op);
    nodes_of_op::places& listed = b.listed;
    if (listed.end == listed.capacity) {
        listed.capacity = 2 * (listed.capacity + 2);
        node** const more = make_array<node*>(*arena_, listed.capacity);
        for (std::uint32_t i = 0; i != listed.end; ++i) more[i] = listed.nodes[i];
        listed.nodes = more;
    }
    n.place_of_op = listed.end;
    listed.nodes[listed.end++] = &n;
    ++b.count;
    mark(*n.op, 1);
}

HEADRACE_INLINE void census::remove(node& n) {
    bucket& b = bucket_of(*n.op);
    nodes_of_op::places& listed = b.listed;
    listed.nodes[n.place_of_op] = nullptr;
    while (listed.first != listed.end && listed.nodes[listed.first] == nullptr) ++listed.first;
    --b.count;
    mark(*n.op, -1);
}

HEADRACE_INLINE void census::grow() {
    capacity_ = 2 * (capacity_ + 2);
    entry* wider = make_array<entry>(*arena_, capacity_);
    for (std::size_t i = 0; i != size_; ++i) wider[i] = entries_[i];
    entries_ = wider;
}

HEADRACE_INLINE void census::mark(const op_info& op, int change) {
    for (census* c = this; c != nullptr; c = c->parent_) {
        entry& d = c->find_or_add(*op.dialect);
        bucket& b = d.ops[op.index];
        b.occurrences += static_cast<std::uint32_t>(change);
        const std::uint64_t bit = std::uint64_t{1} << (op.index % detail::word_bits);
        std::uint64_t& word = d.present[op.index / detail::word_bits];
        word = b.occurrences != 0 ? word | bit : word & ~bit;
    }
}

HEADRACE_INLINE census::entry& census::find_or_add(const dialect_info& dialect) {
    for (entry& d : std::span(entries_, size_)) {
        if (d.dialect == &dialect) return d;
    }
    if (size_ == capacity_) grow();
    const std::size_t words = detail::words_for(dialect.op_count);
    entry& added = entries_[size_++];
    added = {&dialect, make_array<bucket>(*arena_, dialect.op_count),
        make_array<std::uint64_t>(*arena_, words), words};
    return added;
}

}  // namespace headrace

#endif
