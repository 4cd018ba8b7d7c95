// SPDX-License-Identifier: MIT
// Defines headrace::pack_by_skyline.

#include <headrace/banks/skyline_packing.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <headrace/banks/live_steps.hpp>

namespace headrace {

namespace {

enum class preference : std::uint8_t { longest, fullest, largest, area };

class skyline_packer {
public:
    explicit skyline_packer(std::span<const detail::memory_block> blocks)
        : blocks_(blocks.begin(), blocks.end()), waiting_at_start_(keep_live_steps(blocks_)) {}

    [[nodiscard]] std::size_t work_of_round() const {
        return blocks_.size() * (blocks_.size() + waiting_at_start_.size()) + 1;
    }
    [[nodiscard]] std::uint64_t peak() const { return peak_; }
    [[nodiscard]] const std::vector<std::uint64_t>& offsets() const { return offsets_; }

    // Places all blocks; keys are multiplied by random factors between 1 - noise and 1 + noise.
    void pack(preference by, double noise) {
        waiting_ = waiting_at_start_;
        height_.assign(waiting_.size(), 0);
        offsets_.assign(blocks_.size(), unplaced);
        keys_.clear();
        for (const detail::memory_block& b : blocks_)
            keys_.push_back(key_of(b, by) * (1 + noise * (2 * random_part() - 1)));
        peak_ = 0;
        for (std::size_t left = blocks_.size(); left != 0;) {
            if (place_next(lowest_stretch())) --left;
        }
    }

private:
    static constexpr std::uint64_t unplaced = ~std::uint64_t{0};
    using stretch = std::pair<std::size_t, std::size_t>;  // first and last step

    double key_of(const detail::memory_block& b, preference by) const {
        switch (by) {
            case preference::longest:
                return static_cast<double>(b.length());
            case preference::fullest:
                return static_cast<double>(*std::max_element(
                    waiting_at_start_.begin() + b.first, waiting_at_start_.begin() + b.last + 1));
            case preference::largest:
                return static_cast<double>(b.bytes);
            case preference::area:
                return static_cast<double>(b.bytes) * static_cast<double>(b.length());
        }
        return 0;
    }
    // Returns the stretch around the lowest step for which blocks are still to be placed.
    [[nodiscard]] stretch lowest_stretch() const {
        std::size_t lowest = height_.size();
        for (std::size_t s = 0; s != height_.size(); ++s) {
            if (waiting_[s] != 0 && (lowest == height_.size() || height_[s] < height_[lowest])) lowest = s;
        }
        std::size_t first = lowest, last = lowest;
        while (first != 0 && height_[first - 1] <= height_[lowest]) --first;
        while (last + 1 != height_.size() && height_[last + 1] <= height_[lowest]) ++last;
        return {first, last};
    }
    bool place_next(const stretch& in) {
        std::size_t best = blocks_.size();
        for (std::size_t i = 0; i != blocks_.size(); ++i) {
            const bool fits = blocks_[i].first >= in.first && blocks_[i].last <= in.second;
            if (offsets_[i] != unplaced || !fits) continue;
            if (best == blocks_.size() || keys_[i] > keys_[best]) best = i;
        }
        if (best == blocks_.size()) {
            raise(in);
            return false;
        }
        const detail::memory_block& b = blocks_[best];
        const auto from = height_.begin() + b.first, to = height_.begin() + b.last + 1;
        offsets_[best] = *std::max_element(from, to);
        const std::uint64_t end = offsets_[best] + b.bytes;
        std::fill(from, to, end);
        for (std::uint32_t s = b.first; s <= b.last; ++s) waiting_[s] -= b.bytes;
        peak_ = std::max(peak_, end);
        return true;
    }
    void raise(const stretch& in) {
        std::uint64_t neighbour = unplaced;
        if (in.first != 0) neighbour = height_[in.first - 1];
        if (in.second + 1 != height_.size()) neighbour = std::min(neighbour, height_[in.second + 1]);
        std::fill(height_.begin() + static_cast<std::ptrdiff_t>(in.first),
            height_.begin() + static_cast<std::ptrdiff_t>(in.second) + 1, neighbour);
    }
    // Xorshift with a fixed seed.
    double random_part() {
        state_ ^= state_ << 13U;
        state_ ^= state_ >> 7U;
        state_ ^= state_ << 17U;
        return static_cast<double>(state_ >> 40U) / static_cast<double>(1U << 24U);
    }

    std::vector<detail::memory_block> blocks_;
    std::vector<std::uint64_t> waiting_at_start_;
    std::vector<std::uint64_t> waiting_{};  // bytes that are still to be placed, by step
    std::vector<std::uint64_t> height_{};
    std::vector<std::uint64_t> offsets_{};
    std::vector<double> keys_{};
    std::uint64_t peak_ = 0;
    std::uint64_t state_ = 0x9E3779B97F4A7C15U;
};

}  // namespace

std::vector<std::uint64_t> pack_by_skyline(
    std::span<const detail::memory_block> blocks, std::uint64_t bound, std::size_t work) {
    constexpr preference all[] = {
        preference::longest, preference::fullest, preference::largest, preference::area};
    constexpr std::size_t max_rounds = 400;
    skyline_packer packer(blocks);
    std::vector<std::uint64_t> best;
    if (packer.work_of_round() > 4 * work) return best;
    std::uint64_t best_peak = ~std::uint64_t{0};
    const std::size_t rounds = std::clamp(work / packer.work_of_round(), std::size(all), max_rounds);
    for (std::size_t round = 0; round != rounds && best_peak > bound; ++round) {
        const double noise = round < std::size(all) ? 0 : 0.05 + 0.3 * static_cast<double>(round % 3);
        packer.pack(all[round % std::size(all)], noise);
        if (packer.peak() >= best_peak) continue;
        best_peak = packer.peak();
        best = packer.offsets();
    }
    return best;
}

}  // namespace headrace
