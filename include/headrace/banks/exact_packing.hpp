// SPDX-License-Identifier: MIT
// Declares headrace::pack_exactly, which finds the offsets of blocks that need the least memory.
#ifndef HEADRACE_BANKS_EXACT_PACKING_HPP
#define HEADRACE_BANKS_EXACT_PACKING_HPP

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <headrace/memory/block_packer.hpp>

namespace headrace {

struct exact_packing {
    std::vector<std::uint64_t> offsets{};  ///< empty if none with a peak below the given one was found
    bool is_complete = false;              ///< the search has ended: no other offsets have a lower peak
};

/// Searches for offsets whose peak is below `below`; a peak of `bound` ends the search. Visits at most
/// `visits` partial packings.
///
/// Blocks are placed in ascending order of their offsets, each directly above the highest block that is live
/// with it: any packing can be moved down to such a one. A partial packing is given up where, at some step,
/// the blocks that are still to be placed cannot end below the best peak.
[[nodiscard]] exact_packing pack_exactly(std::span<const detail::memory_block> blocks, std::uint64_t below,
    std::uint64_t bound, std::size_t visits);

}  // namespace headrace

#endif
