// SPDX-License-Identifier: MIT
// Tests the search for graphs that nodes hold.
#include <catch2/catch.hpp>

#include <cstddef>
#include <vector>

#include <headrace/dialect/builtin.hpp>
#include <headrace/dialect/higher_order.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/ir/regions.hpp>

using namespace headrace;

namespace {

using wrapped = higher_order::wrap_with_set_grad_enabled;

node& holder_of(graph& g, graph& region) { return g.create<wrapped>({false, &region, {}}, 0); }

std::vector<const graph*> all_graphs(const graph& g) {
    std::vector<const graph*> all;
    for_each_graph(g, [&](const graph& each) { all.push_back(&each); });
    return all;
}

}  // namespace

TEST_CASE("regions are found once each, in the order of the nodes that hold them") {
    graph g;
    graph& first = g.create_region();
    graph& second = g.create_region();
    graph& dead = g.create_region();
    graph& inner = second.create_region();
    holder_of(second, inner);
    node& holder = holder_of(g, second);
    holder_of(g, first);
    holder_of(g, second);
    g.erase(holder_of(g, dead));
    CHECK(live_regions(g) == pmr_vector<graph*>{&second, &first});
    CHECK(all_graphs(g) == std::vector<const graph*>{&g, &second, &inner, &first});
    g.erase(holder);
    CHECK(live_regions(g) == pmr_vector<graph*>{&first, &second});
    CHECK(live_regions(inner).empty());
}

TEST_CASE("a graph may hold very many regions") {
    // Comparing each with all others would take minutes.
    constexpr std::size_t count = 300'000;
    graph g;
    for (std::size_t i = 0; i != count; ++i) holder_of(g, g.create_region());
    CHECK(live_regions(g).size() == count);
}
