// SPDX-License-Identifier: MIT
// Defines the functions of headrace/banks/arena_packing.hpp.

#include <headrace/banks/arena_packing.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <headrace/banks/exact_packing.hpp>
#include <headrace/banks/skyline_packing.hpp>
#include <headrace/base/pmr_vector.hpp>

namespace headrace {

namespace {

void take_better(packed_arena& best, std::span<const detail::memory_block> blocks,
    std::span<const std::uint64_t> offsets) {
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i != blocks.size(); ++i) bytes = std::max(bytes, offsets[i] + blocks[i].bytes);
    if (!best.offsets.empty() && best.bytes <= bytes) return;
    best.bytes = bytes;
    best.offsets.assign(offsets.begin(), offsets.end());
}

}  // namespace

packed_arena pack_arena(std::span<const detail::memory_block> blocks) {
    packed_arena best;
    if (blocks.empty()) return best;
    detail::block_packer packer(
        pmr_vector<detail::memory_block>(blocks.begin(), blocks.end()), planning_algorithm::greedy);
    best.lower_bound = packer.bound();
    take_better(best, blocks, packer.pack());
    if (best.bytes == best.lower_bound) return best;
    constexpr std::size_t work = 60'000'000;
    const std::vector<std::uint64_t> from_below = pack_by_skyline(blocks, best.lower_bound, work);
    if (!from_below.empty()) take_better(best, blocks, from_below);
    if (best.bytes == best.lower_bound) return best;
    constexpr std::size_t max_blocks = 400;  // each is a level of the recursion
    best.is_optimal = false;
    if (blocks.size() > max_blocks) return best;
    const exact_packing exact =
        pack_exactly(blocks, best.bytes, best.lower_bound, work / (blocks.size() * blocks.size()) + 1000);
    if (!exact.offsets.empty()) take_better(best, blocks, exact.offsets);
    best.is_optimal = exact.is_complete;
    return best;
}

}  // namespace headrace
