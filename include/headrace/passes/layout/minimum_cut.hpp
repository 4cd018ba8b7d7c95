// SPDX-License-Identifier: MIT
// Defines headrace::flow_network, which finds minimum cuts.
#ifndef HEADRACE_PASSES_LAYOUT_MINIMUM_CUT_HPP
#define HEADRACE_PASSES_LAYOUT_MINIMUM_CUT_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <headrace/base/pmr_vector.hpp>

namespace headrace {

/// A network of arcs with capacities, and its minimum cut. Dinic's algorithm saturates the shortest paths
/// first (Dinic, "Algorithm for Solution of a Problem of Maximum Flow in Networks with Power Estimation",
/// 1970), in O(V²E) steps at worst. Boost.Graph's algorithm would add 0.8 s and 190 MB to the compilation of
/// the passes; the test compares the two.
class flow_network {
public:
    explicit flow_network(std::size_t vertices) : first_(vertices, none) {}

    /// Parallel arcs between two vertices add up. Capacities are positive.
    void add_arc(std::size_t from, std::size_t to, std::int64_t capacity) {
        arcs_.push_back({to, first_[from], capacity});
        first_[from] = arcs_.size() - 1;
        arcs_.push_back({from, first_[to], 0});
        first_[to] = arcs_.size() - 1;
    }

    /// Returns the sink's side of the minimum cut: true for each vertex in it. Among several minimum cuts,
    /// takes the one whose sink side is smallest.
    [[nodiscard]] pmr_vector<bool> sink_side(std::size_t source, std::size_t sink) && {
        while (measure(sink), distance_[source] != none) fill_paths(source, sink);
        pmr_vector<bool> side(first_.size());
        for (std::size_t v = 0; v != side.size(); ++v) side[v] = distance_[v] != none;
        return side;
    }

private:
    static constexpr std::size_t none = SIZE_MAX;

    // An arc and its reverse are adjacent: i and i ^ 1.
    struct arc {
        std::size_t to;
        std::size_t next;  // of the same vertex
        std::int64_t rest;
    };

    // Computes the least number of arcs from each vertex to the sink, using arcs with residual capacity.
    void measure(std::size_t sink) {
        distance_.assign(first_.size(), none);
        distance_[sink] = 0;
        pmr_vector<std::size_t> reached{sink};
        for (std::size_t k = 0; k != reached.size(); ++k) {
            for (std::size_t a = first_[reached[k]]; a != none; a = arcs_[a].next) {
                const std::size_t from = arcs_[a].to;
                if (arcs_[a ^ 1].rest == 0 || distance_[from] != none) continue;
                distance_[from] = distance_[reached[k]] + 1;
                reached.push_back(from);
            }
        }
    }

    // Fills paths until each path of that length has a saturated arc.
    void fill_paths(std::size_t source, std::size_t sink) {
        pmr_vector<std::size_t> next = first_;  // arcs before these are exhausted
        pmr_vector<std::size_t> path;
        std::size_t at = source;
        for (;;) {
            if (at == sink) at = fill(path);
            std::size_t& a = next[at];
            while (a != none && !leads_on(at, arcs_[a])) a = arcs_[a].next;
            if (a != none) {
                path.push_back(a);
                at = arcs_[a].to;
            } else if (path.empty()) {
                return;
            } else {
                distance_[at] = none;
                at = arcs_[path.back() ^ 1].to;
                path.pop_back();
            }
        }
    }
    [[nodiscard]] bool leads_on(std::size_t from, const arc& a) const {
        return a.rest != 0 && distance_[a.to] != none && distance_[a.to] + 1 == distance_[from];
    }

    // Fills the path, cuts it off before its first saturated arc, and returns where that arc begins.
    std::size_t fill(pmr_vector<std::size_t>& path) {
        std::int64_t flow = INT64_MAX;
        for (const std::size_t a : path) flow = std::min(flow, arcs_[a].rest);
        for (const std::size_t a : path) {
            arcs_[a].rest -= flow;
            arcs_[a ^ 1].rest += flow;
        }
        std::size_t k = 0;
        while (arcs_[path[k]].rest != 0) ++k;
        const std::size_t begin = arcs_[path[k] ^ 1].to;
        path.resize(k);
        return begin;
    }

    pmr_vector<arc> arcs_;
    pmr_vector<std::size_t> first_;     // arc of each vertex
    pmr_vector<std::size_t> distance_;  // to the sink
};

}  // namespace headrace

#endif
