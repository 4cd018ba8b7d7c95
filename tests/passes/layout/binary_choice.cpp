// SPDX-License-Identifier: MIT
// Tests that choices between two are made at the least cost, against all that there are.
#include <catch2/catch.hpp>

#include <cstdint>
#include <limits>
#include <random>

#include <headrace/passes/layout/binary_choice.hpp>

using namespace headrace;

TEST_CASE("the cheapest of random choices") {
    struct pair_cost {
        std::size_t first, second;
        std::int64_t cost[2][2];
    };
    std::mt19937 random(1);
    const auto pick = [&](int low, int high) {
        return std::uniform_int_distribution<int>(low, high)(random);
    };
    for (int run = 0; run != 300; ++run) {
        CAPTURE(run);
        const auto count = static_cast<std::size_t>(pick(1, 9));
        binary_choice choice(count);
        std::pmr::vector<std::int64_t> alone;
        for (std::size_t i = 0; i != count; ++i) {
            alone.push_back(pick(-10, 10));
            choice.add(i, alone.back());
        }
        std::vector<pair_cost> pairs;
        for (std::size_t k = 0; count > 1 && k != 2 * count; ++k) {
            const auto first = static_cast<std::size_t>(pick(0, static_cast<int>(count) - 1));
            const std::size_t second = (first + 1) % count;
            const pair_cost p{first, second, {{pick(0, 4), pick(4, 9)}, {pick(4, 9), pick(0, 4)}}};
            choice.add(first, second, p.cost);
            pairs.push_back(p);
        }
        const auto cost = [&](auto&& is_one) {
            std::int64_t sum = 0;
            for (std::size_t i = 0; i != count; ++i) sum += is_one(i) ? alone[i] : 0;
            for (const pair_cost& p : pairs) sum += p.cost[is_one(p.first) ? 1 : 0][is_one(p.second) ? 1 : 0];
            return sum;
        };
        std::int64_t least = std::numeric_limits<std::int64_t>::max();
        for (unsigned all = 0; all != 1U << count; ++all)
            least = std::min(least, cost([&](std::size_t i) { return (all >> i & 1U) != 0; }));
        const std::pmr::vector<bool> chosen = choice.cheapest();
        CHECK(cost([&](std::size_t i) { return bool(chosen[i]); }) == least);
    }
}

TEST_CASE("of equally cheap choices the one with the fewest changes") {
    binary_choice choice(2);
    choice.add(0, 1, {{3, 5}, {5, 3}});
    CHECK(choice.cheapest() == std::pmr::vector<bool>{false, false});
    choice.add(1, -1);
    CHECK(choice.cheapest() == std::pmr::vector<bool>{true, true});
}
