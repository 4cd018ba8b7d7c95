// SPDX-License-Identifier: MIT
// Plans the memory of the buffers between layers.
#include <headrace/firmware/plan.hpp>

#include <algorithm>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/memory/block_packer.hpp>

namespace headrace::firmware {

arena_figures plan_buffers(std::span<planned_buffer> buffers) {
    constexpr std::int64_t alignment = 16;
    const auto aligned = [](std::int64_t bytes) { return (bytes + alignment - 1) / alignment * alignment; };
    pmr_vector<detail::memory_block> blocks;
    arena_figures figures;
    for (planned_buffer& b : buffers) {
        if (b.is_state) {
            b.offset = figures.state_bytes;
            figures.state_bytes += aligned(b.bytes());
        }
        blocks.push_back({b.is_state ? 0 : static_cast<std::uint64_t>(aligned(b.bytes())),
            static_cast<std::uint32_t>(b.first), static_cast<std::uint32_t>(b.last)});
    }
    if (blocks.empty()) return figures;
    detail::block_packer packer(std::move(blocks), planning_algorithm::greedy);
    const auto offsets = packer.pack();
    for (std::size_t i = 0; i != buffers.size(); ++i) {
        if (buffers[i].is_state) continue;
        buffers[i].offset = static_cast<std::int64_t>(offsets[i]);
        figures.bytes = std::max(figures.bytes, buffers[i].offset + buffers[i].bytes());
    }
    for (const planned_buffer& at : buffers) {
        std::int64_t sum = 0;
        for (const planned_buffer& b : buffers)
            if (!b.is_state && b.first <= at.first && at.first <= b.last) sum += b.bytes();
        if (sum <= figures.lower_bound) continue;
        figures.lower_bound = sum;
        figures.fullest = at.first;
    }
    return figures;
}

}  // namespace headrace::firmware
