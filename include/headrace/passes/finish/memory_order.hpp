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

/// What the tensors of a graph need while it runs, in bytes: the most that live at one step, whatever a
/// memory plan makes of it, and what no order can do without. Tensors are counted as in headrace::liveness.
struct memory_need {
    static constexpr bool inherited = false;
    std::uint64_t peak = 0;
    std::uint64_t lower_bound = 0;
};

/// The order in which a graph's nodes need the least memory.
///
/// A node that is an ancestor or a descendant of each other node stands at the same place in every order.
/// Such nodes cut the graph into segments, each of which has its own best order. A segment is reordered only
/// where the whole graph gains: where its peak is the largest, and only if it then has a smaller one.
/// Segments of at most 64 nodes are searched for the best order, the sets of executed nodes being the states,
/// up to 16,384 states in all. Where that is not enough, the best of two heuristics is taken: of several
/// operands the one first that needs the most memory beyond its result (Sethi and Ullman 1970), and always
/// the node that leaves the least memory in use. All of it depends on the graph and its present order alone.
class memory_order {
public:
    /// Looks at a graph whose nodes are in a topological order.
    explicit memory_order(const graph& g);

    /// May nodes change places, and is the size of each tensor known?
    [[nodiscard]] bool is_free() const { return is_free_; }
    [[nodiscard]] memory_need need() const { return need_; }
    /// Finds a better order, if it can; `need` then is that of the order found.
    bool improve();
    /// The nodes that are executed, in the order found.
    [[nodiscard]] std::span<node* const> nodes() const { return nodes_; }

private:
    static constexpr std::uint32_t none = static_cast<std::uint32_t>(-1);
    using numbers = pmr_vector<std::uint32_t>;

    struct buffer {
        std::uint64_t bytes = 0;
        std::uint32_t maker = none;  // its node's position
        std::uint32_t last = 0;      // the position after that of its last user
        bool is_kept = false;        // it is an output
    };
    struct step {
        std::uint64_t made = 0;   // bytes of its results
        std::uint64_t extra = 0;  // what graphs that it holds need
        std::uint32_t first_buffer = 0, buffer_count = 0;
        std::uint32_t first_read = 0, read_count = 0;      // in reads_
        std::uint32_t first_source = 0, source_count = 0;  // in sources_
    };
    // Positions from `begin` to before `end`.
    struct segment {
        std::uint32_t begin = 0, end = 0;
        std::uint64_t live = 0;  // when it begins
        std::uint64_t peak = 0, lower_bound = 0;
    };
    struct part;          // a segment by itself, its nodes numbered from 0
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
    pmr_vector<step> steps_;  // parallel to nodes_, in the order that the graph has
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
