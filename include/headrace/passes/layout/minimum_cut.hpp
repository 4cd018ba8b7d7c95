// SPDX-License-Identifier: MIT
// Defines headrace::flow_network, which finds minimum cuts.
#ifndef HEADRACE_PASSES_LAYOUT_MINIMUM_CUT_HPP
#define HEADRACE_PASSES_LAYOUT_MINIMUM_CUT_HPP

#include <cstddef>
#include <cstdint>

#include <headrace/base/pmr_vector.hpp>

namespace headrace {

/// A network of arcs with capacities, and its minimum cut, by Boost.Graph's maximum flow. Only the definition
/// includes Boost's header, which takes a compiler 0.8 s and 190 MB.
class flow_network {
public:
    explicit flow_network(std::size_t vertices) : vertices_(vertices) {}

    /// Parallel arcs between two vertices add up. Capacities are positive.
    void add_arc(std::size_t from, std::size_t to, std::int64_t capacity) {
        arcs_.push_back({from, to, capacity});
    }

    /// Returns the sink's side of the minimum cut: true for each vertex in it. Among several minimum cuts,
    /// takes the one whose sink side is smallest.
    [[nodiscard]] pmr_vector<bool> sink_side(std::size_t source, std::size_t sink) const;

private:
    struct arc {
        std::size_t from, to;
        std::int64_t capacity;
    };

    std::size_t vertices_;
    pmr_vector<arc> arcs_;
};

}  // namespace headrace

#ifndef HEADRACE_COMPILED
#include <headrace/passes/layout/minimum_cut_definition.hpp>
#endif

#endif
