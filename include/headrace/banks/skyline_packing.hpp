// SPDX-License-Identifier: MIT
// Declares headrace::pack_by_skyline, which assigns offsets to blocks from the lowest address up.
#ifndef HEADRACE_BANKS_SKYLINE_PACKING_HPP
#define HEADRACE_BANKS_SKYLINE_PACKING_HPP

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <headrace/memory/block_packer.hpp>

namespace headrace {

/// Returns the offsets of the lowest peak that was found. A peak of `bound` ends the search, and so do `work`
/// comparisons. Returns none for so many blocks that a single round would take far more of these.
///
/// The skyline is the highest end of the blocks so far, at each step. The next block is one whose lifetime
/// lies within the lowest stretch of the skyline: the longest, or the one with the most bytes still to be
/// placed at one of its steps, or the largest. If none does, the stretch is raised to its lower neighbour.
/// Further rounds weigh these by random factors, the same on every machine. Burke, Kendall, Whitwell: A new
/// placement heuristic for the orthogonal stock-cutting problem (2004), with fixed columns.
[[nodiscard]] std::vector<std::uint64_t> pack_by_skyline(
    std::span<const detail::memory_block> blocks, std::uint64_t bound, std::size_t work);

}  // namespace headrace

#endif
