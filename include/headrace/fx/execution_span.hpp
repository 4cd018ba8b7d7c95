// SPDX-License-Identifier: MIT
// Defines headrace::detail::execution_span, the part of a graph's execution order that contains given nodes.
#ifndef HEADRACE_FX_EXECUTION_SPAN_HPP
#define HEADRACE_FX_EXECUTION_SPAN_HPP

#include <cstddef>
#include <memory_resource>
#include <span>
#include <unordered_set>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace::detail {

/// The part of the execution order from the first to the last of some nodes of one graph. Constants do not
/// count, since they depend on nothing. Every path between two of the nodes stays in this part, so paths are
/// found in time independent of the graph's size.
class execution_span {
public:
    explicit execution_span(std::span<node* const> nodes) {
        for (node* n : nodes) {
            if (!is<builtin::constant>(*n) && inside_.insert(n).second) first_ = last_ = n;
        }
        if (first_ != nullptr) find_ends();
    }

    [[nodiscard]] node* first() const { return first_; }
    [[nodiscard]] node* last() const { return last_; }

    /// True if no path leaves the nodes and comes back.
    [[nodiscard]] bool convex() const { return scan(nullptr); }
    /// Returns the other nodes of the span that use results of the nodes, directly or not.
    [[nodiscard]] pmr_vector<node*> users_between() const {
        pmr_vector<node*> users;
        scan(&users);
        return users;
    }

private:
    void find_ends() {
        // Search both directions at once, from any node: neither end is further away than the span is long.
        node* back = first_;
        node* ahead = first_;
        for (std::size_t missing = inside_.size() - 1; missing != 0;) {
            if (back != nullptr && (back = back->previous) != nullptr && inside_.contains(back)) {
                first_ = back;
                --missing;
            }
            if (missing != 0 && ahead != nullptr && (ahead = ahead->next) != nullptr &&
                inside_.contains(ahead)) {
                last_ = ahead;
                --missing;
            }
            if (back == nullptr && ahead == nullptr) break;  // the nodes are in different graphs
        }
    }
    // Returns false if one of the nodes depends on another through a node outside.
    bool scan(pmr_vector<node*>* users) const {
        std::pmr::unordered_set<const node*> dependent;
        for (node* n = first_; n != nullptr; n = n->next) {
            const bool is_inside = inside_.contains(n);
            for (const edge& e : n->operand_edges()) {
                if (is_inside && dependent.contains(e.source)) return false;
                if (!is_inside && (inside_.contains(e.source) || dependent.contains(e.source))) {
                    if (dependent.insert(n).second && users != nullptr) users->push_back(n);
                }
            }
            if (n == last_) break;
        }
        return true;
    }

    std::pmr::unordered_set<const node*> inside_;
    node* first_ = nullptr;
    node* last_ = nullptr;
};

}  // namespace headrace::detail

#endif
