// SPDX-License-Identifier: MIT
// Defines the functions of passes/layout/minimum_cut.hpp.
#ifndef HEADRACE_PASSES_LAYOUT_MINIMUM_CUT_DEFINITION_HPP
#define HEADRACE_PASSES_LAYOUT_MINIMUM_CUT_DEFINITION_HPP

#include <cstddef>
#include <cstdint>

#include <boost/graph/adjacency_list.hpp>
// g++ warns about iterators that boost::tie does initialize.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <boost/graph/boykov_kolmogorov_max_flow.hpp>
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

#include <headrace/base/compiled.hpp>
#include <headrace/base/pmr_vector.hpp>

namespace headrace {

namespace detail {

using flow_edge = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>::edge_descriptor;
struct flow_arc {
    std::int64_t capacity = 0;
    std::int64_t rest = 0;
    flow_edge reverse{};
};
using boost_network =
    boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, boost::no_property, flow_arc>;

// Returns the vertices from which arcs with residual capacity lead to the sink. They are the same for each
// maximum flow, and the smallest sink side of a minimum cut.
inline pmr_vector<bool> leading_to(std::size_t sink, const boost_network& network) {
    pmr_vector<bool> side(boost::num_vertices(network));
    side[sink] = true;
    pmr_vector<std::size_t> reached{sink};
    for (std::size_t k = 0; k != reached.size(); ++k) {
        const auto [first, last] = boost::out_edges(reached[k], network);
        for (auto e = first; e != last; ++e) {
            const std::size_t from = boost::target(*e, network);
            if (side[from] || network[network[*e].reverse].rest == 0) continue;
            side[from] = true;
            reached.push_back(from);
        }
    }
    return side;
}

}  // namespace detail

HEADRACE_INLINE pmr_vector<bool> flow_network::sink_side(std::size_t source, std::size_t sink) const {
    detail::boost_network network(vertices_);
    for (const arc& a : arcs_) {
        const auto there = boost::add_edge(a.from, a.to, {a.capacity, 0, {}}, network).first;
        const auto back = boost::add_edge(a.to, a.from, {}, network).first;
        network[there].reverse = back;
        network[back].reverse = there;
    }
    pmr_vector<detail::flow_edge> predecessors(vertices_);
    pmr_vector<boost::default_color_type> colors(vertices_, boost::default_color_type{});
    pmr_vector<long> distances(vertices_);
    boost::boykov_kolmogorov_max_flow(network, boost::get(&detail::flow_arc::capacity, network),
        boost::get(&detail::flow_arc::rest, network), boost::get(&detail::flow_arc::reverse, network),
        predecessors.data(), colors.data(), distances.data(), boost::get(boost::vertex_index, network),
        source, sink);
    return detail::leading_to(sink, network);
}

}  // namespace headrace

#endif
