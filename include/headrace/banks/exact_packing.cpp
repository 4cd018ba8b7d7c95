// SPDX-License-Identifier: MIT
// Defines the functions of headrace/banks/exact_packing.hpp.

#include <headrace/banks/exact_packing.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>

#include <headrace/banks/live_steps.hpp>

namespace headrace {

namespace {

class exact_packer {
public:
    exact_packer(std::span<const detail::memory_block> blocks, std::uint64_t below, std::uint64_t bound,
        std::size_t visits)
        : blocks_(blocks.begin(), blocks.end()),
          best_(below),
          bound_(bound),
          visits_(visits),
          offsets_(blocks.size(), unplaced),
          waiting_(keep_live_steps(blocks_)),
          height_(waiting_.size()) {}

    exact_packing run() {
        exact_packing found;
        search(0, 0, blocks_.size());
        found.is_complete = visits_ != 0;
        found.offsets = std::move(best_offsets_);
        return found;
    }

private:
    static constexpr std::uint64_t unplaced = ~std::uint64_t{0};
    struct candidate {
        std::uint64_t offset;
        std::size_t block;
    };

    [[nodiscard]] std::uint64_t floor_of(std::size_t i) const {
        return *std::max_element(height_.begin() + blocks_[i].first, height_.begin() + blocks_[i].last + 1);
    }

    // Places the next block in ascending order of offsets and, at one offset, of indices.
    void search(std::uint64_t level, std::size_t after, std::size_t left) {
        if (left == 0) {
            best_ = *std::ranges::max_element(height_);
            best_offsets_ = offsets_;
            return;
        }
        std::vector<candidate> next;
        std::uint64_t first_end = unplaced;
        for (std::size_t i = 0; i != blocks_.size(); ++i) {
            if (offsets_[i] != unplaced) continue;
            const std::uint64_t offset = floor_of(i);
            if (std::max(offset, level) + blocks_[i].bytes >= best_) return;
            if (offset < level || (offset == level && i < after)) continue;
            first_end = std::min(first_end, offset + blocks_[i].bytes);
            next.push_back({offset, i});
        }
        // A block that begins above the end of another could let that one go first.
        std::erase_if(next, [&](const candidate& c) { return c.offset >= first_end; });
        std::ranges::sort(next, {},
            [&](const candidate& c) { return std::tuple(c.offset, ~blocks_[c.block].bytes, c.block); });
        for (const candidate& c : next) {
            if (visits_ == 0 || best_ <= bound_) return;
            --visits_;
            place(c, left);
        }
    }
    void place(const candidate& c, std::size_t left) {
        const detail::memory_block& b = blocks_[c.block];
        const std::vector<std::uint64_t> before(height_.begin() + b.first, height_.begin() + b.last + 1);
        offsets_[c.block] = c.offset;
        bool fits = true;
        for (std::uint32_t s = b.first; s <= b.last; ++s) {
            height_[s] = c.offset + b.bytes;
            waiting_[s] -= b.bytes;
            fits = fits && height_[s] + waiting_[s] < best_;
        }
        if (fits) search(c.offset, c.block + 1, left - 1);
        offsets_[c.block] = unplaced;
        for (std::uint32_t s = b.first; s <= b.last; ++s) waiting_[s] += b.bytes;
        std::ranges::copy(before, height_.begin() + b.first);
    }

    std::vector<detail::memory_block> blocks_;
    std::uint64_t best_;
    std::uint64_t bound_;
    std::size_t visits_;
    std::vector<std::uint64_t> offsets_;
    std::vector<std::uint64_t> waiting_;  // bytes that are still to be placed, by step
    std::vector<std::uint64_t> height_;   // the end of what is placed, by step
    std::vector<std::uint64_t> best_offsets_{};
};

}  // namespace

exact_packing pack_exactly(std::span<const detail::memory_block> blocks, std::uint64_t below,
    std::uint64_t bound, std::size_t visits) {
    return exact_packer(blocks, below, bound, visits).run();
}

}  // namespace headrace
