// SPDX-License-Identifier: MIT
// Tests minimum cuts against all cuts of small networks.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include <headrace/passes/layout/minimum_cut.hpp>

using namespace headrace;

namespace {

struct capacity {
    std::size_t from, to;
    std::int64_t amount;
};

/// Returns the vertices that are on the sink's side of each minimum cut, as a set of bits.
std::size_t smallest_sink_side(
    std::size_t vertices, std::size_t source, std::size_t sink, const std::vector<capacity>& arcs) {
    const auto has = [](std::size_t side, std::size_t v) { return (side >> v & 1) != 0; };
    std::int64_t least = INT64_MAX;
    std::size_t common = 0;
    for (std::size_t side = 0; side != std::size_t{1} << vertices; ++side) {
        if (has(side, source) || !has(side, sink)) continue;
        std::int64_t crossing = 0;
        for (const capacity& c : arcs) crossing += !has(side, c.from) && has(side, c.to) ? c.amount : 0;
        common = crossing < least ? side : crossing == least ? common & side : common;
        least = std::min(least, crossing);
    }
    return common;
}

}  // namespace

TEST_CASE("the smallest sink side of random networks") {
    std::mt19937 random(3);
    const auto pick = [&](std::size_t below) { return random() % below; };
    for (int run = 0; run != 1000; ++run) {
        CAPTURE(run);
        const std::size_t vertices = 2 + pick(9);
        const std::size_t source = pick(vertices), sink = (source + 1 + pick(vertices - 1)) % vertices;
        std::vector<capacity> arcs;
        for (std::size_t k = pick(5 * vertices); k != 0; --k) {
            const capacity c{pick(vertices), pick(vertices), 1 + static_cast<std::int64_t>(pick(9))};
            if (c.from != c.to) arcs.push_back(c);
        }
        flow_network found(vertices);
        for (const capacity& c : arcs) found.add_arc(c.from, c.to, c.amount);
        const pmr_vector<bool> side = found.sink_side(source, sink);
        const std::size_t expected = smallest_sink_side(vertices, source, sink, arcs);
        for (std::size_t v = 0; v != vertices; ++v) CHECK(side[v] == ((expected >> v & 1) != 0));
    }
}

TEST_CASE("long paths do not recurse") {
    constexpr std::size_t length = 200'000;
    flow_network row(length);
    for (std::size_t i = 0; i + 1 != length; ++i) row.add_arc(i, i + 1, i == length / 2 ? 1 : 2);
    const pmr_vector<bool> side = row.sink_side(0, length - 1);
    CHECK(!side[length / 2]);
    CHECK(side[length / 2 + 1]);
}
