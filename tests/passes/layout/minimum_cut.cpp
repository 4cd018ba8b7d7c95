// SPDX-License-Identifier: MIT
// Tests minimum cuts against those of Boost.Graph.
#include <catch2/catch.hpp>

#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

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

#include <headrace/passes/layout/minimum_cut.hpp>

using namespace headrace;

namespace {

struct capacity {
    std::size_t from, to;
    std::int64_t amount;
};

using traits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>;
using network = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS,
    boost::property<boost::vertex_index_t, std::size_t,
        boost::property<boost::vertex_color_t, boost::default_color_type,
            boost::property<boost::vertex_distance_t, long,
                boost::property<boost::vertex_predecessor_t, traits::edge_descriptor>>>>,
    boost::property<boost::edge_capacity_t, std::int64_t,
        boost::property<boost::edge_residual_capacity_t, std::int64_t,
            boost::property<boost::edge_reverse_t, traits::edge_descriptor>>>>;

// Returns Boost.Graph's flow, and the vertices that still reach the sink.
std::pair<std::int64_t, std::vector<bool>> expected_cut(
    std::size_t vertices, std::size_t source, std::size_t sink, const std::vector<capacity>& arcs) {
    network n(vertices);
    const auto add = [&](std::size_t from, std::size_t to, std::int64_t amount) {
        const auto e = boost::add_edge(from, to, n).first;
        boost::put(boost::edge_capacity, n, e, amount);
        return e;
    };
    for (const capacity& c : arcs) {
        const auto there = add(c.from, c.to, c.amount);
        const auto back = add(c.to, c.from, 0);
        boost::put(boost::edge_reverse, n, there, back);
        boost::put(boost::edge_reverse, n, back, there);
    }
    const std::int64_t flow = boost::boykov_kolmogorov_max_flow(n, source, sink);
    const auto color = boost::get(boost::vertex_color, n);
    std::vector<bool> side;
    for (std::size_t v = 0; v != vertices; ++v)
        side.push_back(boost::get(color, v) == boost::get(color, sink));
    return {flow, side};
}

}  // namespace

TEST_CASE("the smallest sink side of random networks, and what crosses to it") {
    std::mt19937 random(3);
    const auto pick = [&](std::size_t below) { return random() % below; };
    for (int run = 0; run != 400; ++run) {
        CAPTURE(run);
        const std::size_t vertices = 2 + pick(24);
        const std::size_t source = pick(vertices), sink = (source + 1 + pick(vertices - 1)) % vertices;
        std::vector<capacity> arcs;
        for (std::size_t k = pick(5 * vertices); k != 0; --k) {
            const capacity c{pick(vertices), pick(vertices), 1 + static_cast<std::int64_t>(pick(9))};
            // Boost.Graph reports that a vertex next to both, with two full arcs, still reaches the sink.
            const bool touches_both =
                (c.from == source && c.to % 2 == 0) || (c.to == sink && c.from % 2 != 0);
            if (c.from != c.to && !touches_both) arcs.push_back(c);
        }
        flow_network found(vertices);
        for (const capacity& c : arcs) found.add_arc(c.from, c.to, c.amount);
        const pmr_vector<bool> side = std::move(found).sink_side(source, sink);
        const auto [flow, expected] = expected_cut(vertices, source, sink, arcs);
        std::int64_t crossing = 0;
        for (const capacity& c : arcs) crossing += !side[c.from] && side[c.to] ? c.amount : 0;
        CHECK(crossing == flow);
        for (std::size_t v = 0; v != vertices; ++v) CHECK(side[v] == expected[v]);
    }
}

TEST_CASE("long paths do not recurse") {
    constexpr std::size_t length = 200'000;
    flow_network row(length);
    for (std::size_t i = 0; i + 1 != length; ++i) row.add_arc(i, i + 1, i == length / 2 ? 1 : 2);
    const pmr_vector<bool> side = std::move(row).sink_side(0, length - 1);
    CHECK(!side[length / 2]);
    CHECK(side[length / 2 + 1]);
}
