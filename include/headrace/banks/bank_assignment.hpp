// SPDX-License-Identifier: MIT
// Defines headrace::bank_assignment, which tells which items fit in which bank, before they get offsets.
#ifndef HEADRACE_BANKS_BANK_ASSIGNMENT_HPP
#define HEADRACE_BANKS_BANK_ASSIGNMENT_HPP

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <headrace/banks/bank_plan.hpp>
#include <headrace/memory/block_packer.hpp>

namespace headrace {

/// The bank of each item, with the bytes that are live in each bank at each step.
///
/// Models that run at once have an arena each; others share one, in which the steps of the second model
/// follow those of the first.
class bank_assignment {
public:
    static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

    bank_assignment(const banked_models& models, const memory_map& map);

    [[nodiscard]] std::uint32_t bank_of(std::size_t item) const { return banks_of_[item]; }
    [[nodiscard]] std::span<const std::uint32_t> all() const { return banks_of_; }
    /// Returns the banks that may hold an item, those with the fewest cycles first.
    [[nodiscard]] std::span<const std::uint32_t> choices(std::size_t item) const {
        return choices_[static_cast<std::size_t>(models_.items[item].use)];
    }
    [[nodiscard]] double cycles(std::size_t item, std::uint32_t bank) const {
        return static_cast<double>(models_.items[item].accessed) / map_.banks[bank].bytes_per_cycle;
    }
    /// Returns the cycles of all items; they must have banks.
    [[nodiscard]] double cycles() const;
    [[nodiscard]] double least_cycles() const;

    /// True if the bank may hold the item and the live bytes of no step exceed its limit.
    [[nodiscard]] bool fits(std::size_t item, std::uint32_t bank) const;
    void put(std::size_t item, std::uint32_t bank);
    void remove(std::size_t item);
    void clear();

    /// Bytes that a bank may have: its capacity, less what its packing has needed beyond the live bytes.
    [[nodiscard]] std::uint64_t limit(std::uint32_t bank) const { return limits_[bank]; }
    void lower_limit(std::uint32_t bank, std::uint64_t by);

    /// Returns the arenas of a bank: the items of each, as blocks.
    struct arena {
        std::vector<std::size_t> items;
        std::vector<detail::memory_block> blocks;
    };
    [[nodiscard]] std::vector<arena> arenas(std::uint32_t bank) const;

private:
    struct live_bytes {
        std::vector<std::uint64_t> at_step;
        std::uint64_t peak = 0;
    };
    [[nodiscard]] std::size_t arena_of(const bank_item& i) const { return models_.run_at_once ? i.model : 0; }
    [[nodiscard]] std::uint32_t shift_of(const bank_item& i) const { return shifts_[i.model]; }
    [[nodiscard]] std::uint64_t used(std::uint32_t bank) const;
    [[nodiscard]] std::uint64_t max_live(const live_bytes& live, const bank_item& i) const;

    const banked_models& models_;
    const memory_map& map_;
    std::vector<std::uint32_t> banks_of_;
    std::vector<std::uint32_t> shifts_;                  // of the steps, by model
    std::vector<std::vector<std::uint32_t>> choices_{};  // by use
    std::vector<std::uint64_t> limits_{};
    std::vector<std::uint64_t> fixed_{};             // by bank
    std::vector<std::vector<live_bytes>> arenas_{};  // by bank and arena
};

}  // namespace headrace

#endif
