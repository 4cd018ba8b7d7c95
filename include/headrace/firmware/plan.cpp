// SPDX-License-Identifier: MIT
#include <headrace/firmware/plan.hpp>

#include <algorithm>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/memory/block_packer.hpp>

namespace headrace::firmware {

arena_figures plan_buffers(std::span<planned_buffer> buffers) {
    constexpr std::int64_t alignment = 16;
    pmr_vector<detail::memory_block> blocks;
    for (const planned_buffer& b : buffers) {
        blocks.push_back({static_cast<std::uint64_t>((b.bytes() + alignment - 1) / alignment * alignment),
                          static_cast<std::uint32_t>(b.first), static_cast<std::uint32_t>(b.last)});
    }
    detail::block_packer packer(std::move(blocks), planning_algorithm::greedy);
    const auto offsets = packer.pack();
    arena_figures figures{0, static_cast<std::int64_t>(packer.bound())};
    for (std::size_t i = 0; i != buffers.size(); ++i) {
        buffers[i].offset = static_cast<std::int64_t>(offsets[i]);
        figures.bytes = std::max(figures.bytes, buffers[i].offset + buffers[i].bytes());
    }
    return figures;
}

}  // namespace headrace::firmware
