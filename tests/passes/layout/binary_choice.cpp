// SPDX-License-Identifier: MIT
// Tests that binary choices are made at the least cost, compared with all combinations.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <utility>

#include <headrace/base/pmr_vector.hpp>
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
        pmr_vector<std::int64_t> alone;
        for (std::size_t i = 0; i != count; ++i) {
            alone.push_back(pick(-10, 10));
            choice.add(i, alone.back());
        }
        std::vector<pair_cost> pairs;
        for (std::size_t k = 0; count > 1 && k != 2 * count; ++k) {
            const auto first = static_cast<std::size_t>(pick(0, static_cast<int>(count) - 1));
            const std::size_t second =
                (first + static_cast<std::size_t>(pick(1, static_cast<int>(count) - 1))) % count;
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
        unsigned fewest = ~0U;  // the bits that all of the cheapest combinations have in common
        for (unsigned all = 0; all != 1U << count; ++all) {
            if (cost([&](std::size_t i) { return (all >> i & 1U) != 0; }) == least) fewest &= all;
        }
        const pmr_vector<bool> chosen = std::move(choice).cheapest();
        CHECK(cost([&](std::size_t i) { return bool(chosen[i]); }) == least);
        for (std::size_t i = 0; i != count; ++i) CHECK(chosen[i] == ((fewest >> i & 1U) != 0));
    }
}

TEST_CASE("of equally cheap choices the one with the fewest changes") {
    const std::int64_t together[2][2] = {{3, 5}, {5, 3}};
    binary_choice tie(2);
    tie.add(0, 1, together);
    CHECK(std::move(tie).cheapest() == pmr_vector<bool>{false, false});
    binary_choice better(2);
    better.add(0, 1, together);
    better.add(1, -1);
    CHECK(std::move(better).cheapest() == pmr_vector<bool>{true, true});
}

TEST_CASE("many choices that are paired in a row, and with one in the middle") {
    constexpr std::size_t count = 200'000;
    const std::int64_t together[2][2] = {{0, 2}, {2, 0}};
    binary_choice row(count), star(count);
    for (std::size_t i = 0; i + 1 != count; ++i) row.add(i, i + 1, together);
    for (std::size_t i = 1; i != count; ++i) star.add(0, i, together);
    row.add(0, -3);
    row.add(count - 1, 1);
    star.add(0, 1);
    star.add(7, -1);
    CHECK(std::move(row).cheapest() == pmr_vector<bool>(count, true));
    CHECK(std::move(star).cheapest() == pmr_vector<bool>(count, false));
}

TEST_CASE("a long band, where no choice has few others") {
    constexpr std::size_t count = 50'000;
    binary_choice band(count);
    for (std::size_t i = 0; i != count; ++i) {
        for (std::size_t k = i + 1; k != std::min(i + 4, count); ++k) band.add(i, k, {{0, 2}, {2, 0}});
    }
    band.add(0, -3);
    band.add(count - 1, 1);
    CHECK(std::move(band).cheapest() == pmr_vector<bool>(count, true));
}

TEST_CASE("a mesh, where no choice has few others") {
    constexpr std::size_t width = 6;
    std::mt19937 random(3);
    binary_choice mesh(width * width);
    std::vector<std::int64_t> alone;
    for (std::size_t i = 0; i != width * width; ++i) {
        alone.push_back(static_cast<std::int64_t>(random() % 21) - 10);
        mesh.add(i, alone.back());
        for (std::size_t k = 0; k != i; ++k) mesh.add(k, i, {{0, 1000}, {1000, 0}});
    }
    // Choices that are tied so closely all follow the sum.
    const bool all = std::accumulate(alone.begin(), alone.end(), std::int64_t{0}) < 0;
    CHECK(std::move(mesh).cheapest() == pmr_vector<bool>(width * width, all));
}
