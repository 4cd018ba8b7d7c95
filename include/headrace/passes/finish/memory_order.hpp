// SPDX-License-Identifier: MIT
// Defines headrace::memory_order, which finds an order of a graph's nodes that needs little memory.
#ifndef HEADRACE_PASSES_FINISH_MEMORY_ORDER_HPP
#define HEADRACE_PASSES_FINISH_MEMORY_ORDER_HPP

#include <cstddef>
#include <cstdint>
#include <span>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace {

/// The memory that a graph's tensors need while it runs, in bytes: the peak of live tensors over all steps,
/// regardless of a memory plan, and a lower bound for any order. Tensors are counted as in
/// headrace::liveness.
struct memory_need {
    static constexpr bool inherited = false;
    std::uint64_t peak = 0;
    std::uint64_t lower_bound = 0;
};

/// Finds an order of a graph's nodes in which live tensors need little memory. Example: if two branches each
/// widen a tensor and reduce it again, running one branch to its end before the other starts keeps a single
/// wide tensor in memory instead of two.
///
/// A node that is an ancestor or a descendant of every other node has the same place in every order. Such
/// nodes cut the graph into segments, which are ordered independently. A segment is reordered only if the
/// whole graph gains: if its peak is the largest and becomes smaller. Segments of at most 64 nodes are
/// searched exhaustively, with sets of executed nodes as states, up to 16,384 states in all. If that is not
/// enough, the better of two heuristics is used: depth first, computing the operand first that needs the most
/// memory beyond its result (Sethi and Ullman 1970); or greedily, always the node that leaves the least
/// memory in use. The result depends only on the graph and its present order.
class memory_order {
public:
    /// Reads a graph whose nodes are in topological order.
    explicit memory_order(const graph& g);

    /// True if nodes may be reordered, and the size of each tensor is known.
    [[nodiscard]] bool is_free() const { return is_free_; }
    [[nodiscard]] memory_need need() const { return need_; }
    /// Returns true if it finds a better order; need() then returns the need of that order.
    bool improve();
    /// The nodes that are executed, in the order found.
    [[nodiscard]] std::span<node* const> nodes() const { return nodes_; }

private:
    static constexpr std::uint32_t none = static_cast<std::uint32_t>(-1);
    using numbers = pmr_vector<std::uint32_t>;

    struct buffer {
        std::uint64_t bytes = 0;
        std::uint32_t maker = none;  // position of the node that makes it
        std::uint32_t last = 0;      // one past the position of its last user
        bool is_kept = false;        // whether it is an output
    };
    struct step {
        std::uint64_t made = 0;   // bytes of its results
        std::uint64_t extra = 0;  // peak of the nested graphs it holds
        std::uint32_t first_buffer = 0, buffer_count = 0;
        std::uint32_t first_read = 0, read_count = 0;      // in reads_
        std::uint32_t first_source = 0, source_count = 0;  // in sources_
    };
    // Positions [begin, end).
    struct segment {
        std::uint32_t begin = 0, end = 0;
        std::uint64_t live = 0;  // at its beginning
        std::uint64_t peak = 0, lower_bound = 0;
    };
    struct part;          // a segment by itself, with nodes numbered from 0
    struct exact_search;  // of a part
    struct searched_part;
    struct improvement;  // of all segments

    void read(const graph& g);
    void read_node(const node& n);
    void add_results(const node& n, std::uint32_t maker);
    void add_segments();
    [[nodiscard]] pmr_vector<bool> cuts() const;
    [[nodiscard]] bool is_made_in(const buffer& b, const segment& s) const;
    [[nodiscard]] bool is_freed_in(const buffer& b, const segment& s) const;
    [[nodiscard]] std::uint64_t bound_of(const segment& s) const;
    [[nodiscard]] part part_of(const segment& s, numbers& places) const;
    [[nodiscard]] searched_part search(part p, std::uint64_t below);
    bool improve(segment& s, improvement& so_far);

    pmr_vector<node*> nodes_;
    pmr_vector<step> steps_;  // parallel to nodes_, in the graph's order
    pmr_vector<buffer> buffers_;
    numbers reads_, sources_;
    numbers positions_, first_buffers_, marks_;  // by node, by node, by buffer
    pmr_vector<segment> segments_;
    std::uint64_t input_bytes_ = 0;
    std::size_t states_left_ = 16384;
    memory_need need_;
    bool has_regions_ = false;
    bool is_free_ = true;
};

}  // namespace headrace

#ifndef HEADRACE_COMPILED
#include <headrace/passes/finish/memory_order_definition.hpp>
#endif

#endif
