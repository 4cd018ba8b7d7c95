// SPDX-License-Identifier: MIT
// Tests the exact search for offsets against all orders of placing.
#include <catch2/catch.hpp>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include <headrace/banks/arena_packing.hpp>
#include <headrace/banks/exact_packing.hpp>
#include <headrace/banks/skyline_packing.hpp>

using namespace headrace;

namespace {

using block_list = std::vector<detail::memory_block>;

block_list random_blocks(std::mt19937& random, std::size_t count, std::uint32_t steps) {
    block_list blocks;
    for (std::size_t i = 0; i != count; ++i) {
        const auto first = static_cast<std::uint32_t>(random() % steps);
        const auto last =
            std::min<std::uint32_t>(steps - 1, first + static_cast<std::uint32_t>(random() % 4));
        blocks.push_back({16 * (1 + random() % 9), first, last});
    }
    return blocks;
}

bool overlap_in_time(const detail::memory_block& a, const detail::memory_block& b) {
    return a.first <= b.last && b.first <= a.last;
}

// Returns the peak of the best order, each block at the lowest address that is free.
std::uint64_t least_peak(const block_list& blocks) {
    std::vector<std::size_t> order(blocks.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::uint64_t best = ~std::uint64_t{0};
    do {
        std::vector<std::uint64_t> offsets(blocks.size());
        std::uint64_t peak = 0;
        for (std::size_t k = 0; k != order.size(); ++k) {
            const auto& b = blocks[order[k]];
            std::uint64_t at = 0;
            for (bool moved = true; moved;) {
                moved = false;
                for (std::size_t j = 0; j != k; ++j) {
                    const auto& o = blocks[order[j]];
                    const std::uint64_t from = offsets[order[j]];
                    if (!overlap_in_time(b, o) || at >= from + o.bytes || from >= at + b.bytes) continue;
                    at = from + o.bytes;
                    moved = true;
                }
            }
            offsets[order[k]] = at;
            peak = std::max(peak, at + b.bytes);
        }
        best = std::min(best, peak);
    } while (std::ranges::next_permutation(order).found);
    return best;
}

std::uint64_t checked_peak(const block_list& blocks, const std::vector<std::uint64_t>& offsets) {
    std::uint64_t peak = 0;
    for (std::size_t i = 0; i != blocks.size(); ++i) {
        peak = std::max(peak, offsets[i] + blocks[i].bytes);
        for (std::size_t k = 0; k != i; ++k) {
            const bool apart =
                offsets[i] + blocks[i].bytes <= offsets[k] || offsets[k] + blocks[k].bytes <= offsets[i];
            CHECK((apart || !overlap_in_time(blocks[i], blocks[k])));
        }
    }
    return peak;
}

}  // namespace

TEST_CASE("the exact search finds the least peak of small packings") {
    std::mt19937 random(5);
    constexpr std::uint64_t any = std::uint64_t{1} << 40;
    for (int i = 0; i != 60; ++i) {
        const block_list blocks = random_blocks(random, 1 + static_cast<std::size_t>(i) % 7, 6);
        const exact_packing found = pack_exactly(blocks, any, 0, 1'000'000);
        REQUIRE(found.is_complete);
        REQUIRE(found.offsets.size() == blocks.size());
        CHECK(checked_peak(blocks, found.offsets) == least_peak(blocks));
    }
}

TEST_CASE("the exact search proves that no peak is lower, and says if it did not get that far") {
    std::mt19937 random(7);
    for (int i = 0; i != 200; ++i) {
        const block_list blocks = random_blocks(random, 9, 6);
        const packed_arena packed = pack_arena(blocks);
        CHECK(checked_peak(blocks, packed.offsets) == packed.bytes);
        CHECK(packed.is_optimal);
        const exact_packing none = pack_exactly(blocks, packed.bytes, 0, 1'000'000);
        CHECK(none.is_complete);
        CHECK(none.offsets.empty());
    }
    const block_list large = random_blocks(random, 60, 20);
    CHECK_FALSE(pack_exactly(large, ~std::uint64_t{0} >> 1, 0, 3).is_complete);
}

TEST_CASE("packing by skyline places each block above those that are live with it") {
    std::mt19937 random(17);
    for (int i = 0; i != 40; ++i) {
        const block_list blocks = random_blocks(random, 5 + random() % 100, 30);
        const std::uint64_t bound = pack_arena(blocks).lower_bound;
        const auto offsets = pack_by_skyline(blocks, bound, 100'000);
        REQUIRE(offsets.size() == blocks.size());
        CHECK(checked_peak(blocks, offsets) >= bound);
    }
}
