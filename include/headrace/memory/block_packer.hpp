// SPDX-License-Identifier: MIT
// Defines headrace::detail::block_packer, which assigns memory offsets to blocks whose lifetimes overlap.
#ifndef HEADRACE_MEMORY_BLOCK_PACKER_HPP
#define HEADRACE_MEMORY_BLOCK_PACKER_HPP

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/memory/planning_algorithm.hpp>

namespace headrace {

namespace detail {

struct memory_block {
    std::uint64_t bytes = 0;  // up to the next aligned address
    std::uint32_t first = 0;
    std::uint32_t last = 0;

    [[nodiscard]] std::uint64_t length() const { return std::uint64_t{last} - first + 1; }
};

/// Assigns an offset to each block such that blocks that are live at the same time do not overlap, and the
/// peak, the highest end of a block, is low. Example: A has 64 bytes and lives in steps 0 to 2, B has 32 (1
/// to 3) and C has 64 (3 to 4). With A at 0, B at 64 and C at 0 the peak is 96 bytes, which is the lower
/// bound: the largest sum of blocks live in one step.
///
/// Blocks are placed one by one in several orders, and the best result is kept. No order suits all graphs; if
/// none reaches the lower bound, a local search improves the best one.
class block_packer {
public:
    block_packer(pmr_vector<memory_block> blocks, planning_algorithm algorithm)
        : blocks_(std::move(blocks)), algorithm_(algorithm) {
        find_neighbours();
        find_bound();
    }

    [[nodiscard]] std::uint64_t bound() const { return bound_; }

    [[nodiscard]] pmr_vector<std::uint64_t> pack() {
        for (const order_type& order : {by_size(), by_area(), by_breadth(), by_length(), by_start()}) {
            if (attempt(order) == bound_) return best_;
        }
        advance_top();
        exchange_turns();
        return best_;
    }

private:
    using order_type = pmr_vector<std::size_t>;

    // Finds the blocks that are live at the same time; a sweep over starts visits each pair once.
    void find_neighbours() {
        neighbours_.resize(blocks_.size());
        order_type active;
        for (const std::size_t i : sorted([&](std::size_t k) { return std::array{blocks_[k].first}; })) {
            if (blocks_[i].bytes == 0) continue;
            erase_if(active, [&](std::size_t k) { return blocks_[k].last < blocks_[i].first; });
            for (const std::size_t k : active) {
                neighbours_[i].push_back(k);
                neighbours_[k].push_back(i);
            }
            active.push_back(i);
        }
    }
    void find_bound() {
        std::uint32_t steps = 0;
        for (const memory_block& b : blocks_) steps = std::max(steps, b.last + 1);
        pmr_vector<std::uint64_t> change(steps + std::size_t{1});  // modulo 2^64: the sums are right
        for (const memory_block& b : blocks_) {
            change[b.first] += b.bytes;
            change[b.last + std::size_t{1}] -= b.bytes;
        }
        std::partial_sum(change.begin(), change.end(), change.begin());
        live_ = std::move(change);
        bound_ = *std::max_element(live_.begin(), live_.end());
    }

    // --- orders ------------------------------------------------------------------------

    // Sorts in ascending order of key, and by index for equal keys.
    template <class Key>
    [[nodiscard]] order_type sorted(Key&& key) const {
        order_type order(blocks_.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        pmr_vector<decltype(key(0))> keys;
        for (const std::size_t i : order) keys.push_back(key(i));
        std::stable_sort(
            order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });
        return order;
    }
    [[nodiscard]] order_type by_size() const {
        return sorted([&](std::size_t i) { return std::array{~blocks_[i].bytes, ~blocks_[i].length()}; });
    }
    [[nodiscard]] order_type by_area() const {
        const auto area = [](const memory_block& b) {
            return static_cast<double>(b.bytes) * static_cast<double>(b.length());
        };
        return sorted([&](std::size_t i) { return -area(blocks_[i]); });
    }
    [[nodiscard]] order_type by_length() const {
        return sorted([&](std::size_t i) { return std::array{~blocks_[i].length(), ~blocks_[i].bytes}; });
    }
    [[nodiscard]] order_type by_start() const {
        return sorted([&](std::size_t i) {
            return std::array{std::uint64_t{blocks_[i].first}, ~blocks_[i].bytes};
        });
    }
    // Blocks that are live at the fullest step come first.
    [[nodiscard]] order_type by_breadth() const {
        return sorted([&](std::size_t i) {
            const auto from = live_.begin() + blocks_[i].first;
            const auto to = live_.begin() + blocks_[i].last + 1;
            return std::array{~*std::max_element(from, to), ~blocks_[i].bytes};
        });
    }

    // --- placing -----------------------------------------------------------------------

    // Places all blocks in that order. Returns the peak.
    std::uint64_t attempt(const order_type& order) {
        offsets_.assign(blocks_.size(), unplaced);
        std::uint64_t peak = 0;
        for (const std::size_t i : order) {
            offsets_[i] = place_for(i);
            peak = std::max(peak, offsets_[i] + blocks_[i].bytes);
        }
        if (best_order_.empty() || peak < best_peak_) {
            best_peak_ = peak;
            best_ = offsets_;
            best_order_ = order;
        }
        return peak;
    }
    [[nodiscard]] std::uint64_t place_for(std::size_t i) {
        taken_.clear();
        for (const std::size_t k : neighbours_[i]) {
            if (offsets_[k] != unplaced) taken_.emplace_back(offsets_[k], offsets_[k] + blocks_[k].bytes);
        }
        std::sort(taken_.begin(), taken_.end());
        std::uint64_t end = 0;  // highest end of the blocks so far
        std::uint64_t best = unplaced;
        std::uint64_t smallest = unplaced;
        for (const auto& [from, to] : taken_) {
            const std::uint64_t gap = from > end ? from - end : 0;
            if (gap >= blocks_[i].bytes && gap != 0 && gap < smallest) {
                best = end;
                smallest = algorithm_ == planning_algorithm::greedy ? 0 : gap;
            }
            end = std::max(end, to);
        }
        return best == unplaced ? end : best;
    }

    // Starting from the best order, moves the block that ends at the peak before the first block that is live
    // with it, so that it may get that block's offset.
    void advance_top() {
        constexpr int max_rounds = 48;
        order_type order = best_order_;
        for (int round = 0; round != max_rounds && best_peak_ != bound_; ++round) {
            const std::uint64_t peak = attempt(order);
            const auto top = std::find(order.begin(), order.end(), ending_at(offsets_, peak).front());
            const auto first = std::find_if(order.begin(), top, [&](std::size_t i) {
                return std::find(neighbours_[*top].begin(), neighbours_[*top].end(), i) !=
                    neighbours_[*top].end();
            });
            std::rotate(first, top, top + 1);
        }
    }
    // Starting from the best order, swaps two blocks at a time: one that ends at the peak, or a neighbour of
    // one, and a neighbour of it. A swap is kept unless it raises the peak, to cross plateaus.
    void exchange_turns() {
        order_type order = best_order_;
        order_type turns(order.size());
        for (std::size_t turn = 0; turn != order.size(); ++turn) turns[order[turn]] = turn;
        std::uint64_t current = best_peak_;
        order_type at_top = ending_at(best_, current);
        for (std::size_t round = rounds(); round != 0 && best_peak_ != bound_; --round) {
            std::size_t one = at_top[next_random() % at_top.size()];
            if (neighbours_[one].empty()) return;
            if (next_random() % 2 == 0) one = any_neighbour(one);
            const std::size_t other = any_neighbour(one);
            const auto exchange = [&] {
                std::swap(order[turns[one]], order[turns[other]]);
                std::swap(turns[one], turns[other]);
            };
            exchange();
            const std::uint64_t peak = attempt(order);
            if (peak > current) {
                exchange();
            } else {
                current = peak;
                at_top = ending_at(offsets_, peak);
            }
        }
    }
    // Returns the number of rounds: fewer for large graphs, so that the time is about the same for all.
    [[nodiscard]] std::size_t rounds() const {
        constexpr std::size_t budget = 500'000;
        std::size_t visits = blocks_.size();
        for (const order_type& n : neighbours_) visits += n.size();
        return std::clamp<std::size_t>(budget / (visits + 1), 8, 4000);
    }
    [[nodiscard]] order_type ending_at(const pmr_vector<std::uint64_t>& offsets, std::uint64_t end) const {
        order_type found;
        for (std::size_t i = 0; i != blocks_.size(); ++i) {
            if (offsets[i] + blocks_[i].bytes == end) found.push_back(i);
        }
        return found;
    }
    [[nodiscard]] std::size_t any_neighbour(std::size_t i) {
        return neighbours_[i][next_random() % neighbours_[i].size()];
    }
    // Xorshift with a fixed seed, so that a graph gets the same plan on every machine.
    std::size_t next_random() {
        state_ ^= state_ << 13U;
        state_ ^= state_ >> 7U;
        state_ ^= state_ << 17U;
        return static_cast<std::size_t>(state_ >> 16U);
    }

    static constexpr std::uint64_t unplaced = ~std::uint64_t{0};

    pmr_vector<memory_block> blocks_;
    planning_algorithm algorithm_;
    pmr_vector<order_type> neighbours_;
    pmr_vector<std::uint64_t> live_;  // bytes at each step
    std::uint64_t bound_ = 0;
    pmr_vector<std::uint64_t> offsets_;
    pmr_vector<std::pair<std::uint64_t, std::uint64_t>> taken_;
    pmr_vector<std::uint64_t> best_;
    order_type best_order_;
    std::uint64_t best_peak_ = 0;
    std::uint64_t state_ = 0x9E3779B97F4A7C15U;
};

}  // namespace detail

}  // namespace headrace

#endif
