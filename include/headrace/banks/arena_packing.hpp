// SPDX-License-Identifier: MIT
// Declares headrace::pack_arena, the offsets of the tensors of one arena.
#ifndef HEADRACE_BANKS_ARENA_PACKING_HPP
#define HEADRACE_BANKS_ARENA_PACKING_HPP

#include <cstdint>
#include <span>
#include <vector>

#include <headrace/memory/block_packer.hpp>

namespace headrace {

struct packed_arena {
    std::vector<std::uint64_t> offsets{};  ///< parallel to the blocks
    std::uint64_t bytes = 0;
    std::uint64_t lower_bound = 0;  ///< the largest sum of blocks that are live at one step
    bool is_optimal = true;         ///< at the lower bound, or by an exact search
};

/// Packs blocks by detail::block_packer and, where that misses the lower bound, by pack_by_skyline and then
/// by pack_exactly, within limits of their work.
[[nodiscard]] packed_arena pack_arena(std::span<const detail::memory_block> blocks);

}  // namespace headrace

#endif
