// SPDX-License-Identifier: MIT
// Defines headrace::memory_order, which finds an order of a graph's nodes that needs little memory.
#ifndef HEADRACE_MEMORY_MEMORY_ORDER_HPP
#define HEADRACE_MEMORY_MEMORY_ORDER_HPP

#include <cstdint>
#include <span>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/memory/liveness.hpp>
#include <headrace/memory/order_problem.hpp>
#include <headrace/memory/order_solver.hpp>

namespace headrace {

/// The memory that a graph's tensors need while it runs, in bytes: the peak of live tensors over all steps,
/// regardless of a memory plan, and a lower bound for any order. The tensors are those of
/// headrace::liveness.
struct memory_need {
    static constexpr bool inherited = false;
    std::uint64_t peak = 0;
    std::uint64_t lower_bound = 0;
};

/// An annotation of a graph's output: any topological order will do, as for a graph that is only checked. No
/// better one is searched.
struct any_memory_order {
    static constexpr bool inherited = false;
};

/// Finds an order of a graph's nodes in which live tensors need little memory.
///
/// The problem: a graph says which nodes come before which, and leaves the rest open. A tensor takes memory
/// from the node that makes it to its last reader, so the order decides how many are alive at once. Example:
/// two branches each widen a tensor of 4 bytes to 16, and reduce that to 1. If both widen first, two wide
/// tensors are alive together, 36 bytes with the input; if one branch ends before the other begins, a single
/// wide one is, at most 21 bytes. To find the best order is NP-hard (Sethi 1975), but graphs of networks are
/// mostly chains.
///
/// The idea: a node that is an ancestor or a descendant of every other node has the same place in every
/// order. Such nodes cut the graph into segments, which are ordered independently
/// (memory/order_problem.hpp). A segment is reordered only if the whole graph gains: if its peak is the
/// largest and becomes smaller. Segments of at most 64 nodes are searched exhaustively, with sets of executed
/// nodes as states, up to 16,384 states in all (memory/exact_order_search.hpp). If that is not enough, the
/// better of two heuristics is used: depth first, computing the operand first that needs the most memory
/// beyond its result (Sethi and Ullman, "The generation of optimal code for arithmetic expressions", 1970);
/// or greedily, always the node that leaves the least memory in use. Ahn and others search such sets by
/// dynamic programming ("Ordering chaos: memory-aware scheduling of irregularly wired neural networks",
/// 2020).
///
/// The result depends only on the graph and its present order.
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

    // A tensor of the graph, numbered as in headrace::liveness.
    struct buffer {
        std::uint64_t bytes = 0;
        std::uint32_t maker = none;  // position of the node that makes it
        std::uint32_t last = 0;      // one past the position of its last user
        bool is_kept = false;        // whether it is an output
    };
    struct step {
        std::uint64_t made = 0;   // bytes of its results
        std::uint64_t extra = 0;  // peak of the nested graphs it holds, and its scratch buffers
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

    void read(const graph& g);
    // True for a buffer that one node of its graph works in: it needs memory while that node runs.
    [[nodiscard]] static bool has_one_reader(const node& buffer);
    void read_node(const node& n, const liveness& lifetimes);
    void read_operands(const node& n, step& s);
    void read_results(const node& n, step& s, const liveness& lifetimes);
    void add_segments();
    [[nodiscard]] pmr_vector<bool> cuts() const;
    [[nodiscard]] bool is_made_in(const buffer& b, const segment& s) const;
    [[nodiscard]] bool is_freed_in(const buffer& b, const segment& s) const;
    [[nodiscard]] std::uint64_t bound_of(const segment& s) const;
    [[nodiscard]] detail::order_problem part_of(const segment& s, numbers& places) const;
    bool improve(segment& s, detail::order_solver& solver, numbers& places);

    pmr_vector<node*> nodes_;
    pmr_vector<step> steps_;  // parallel to nodes_, in the graph's order
    pmr_vector<buffer> buffers_;
    numbers reads_, sources_;
    numbers positions_, first_tensors_, marks_;  // by node, by node, by buffer
    pmr_vector<segment> segments_;
    std::uint64_t input_bytes_ = 0;
    memory_need need_;
    bool has_regions_ = false;
    bool is_free_ = true;
};

}  // namespace headrace

#ifndef HEADRACE_COMPILED
#include <headrace/memory/memory_order_definition.hpp>
#endif

#endif
