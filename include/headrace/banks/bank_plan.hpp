// SPDX-License-Identifier: MIT
// Declares headrace::make_bank_plan, which assigns tensors to banks of memory and to offsets there.
#ifndef HEADRACE_BANKS_BANK_PLAN_HPP
#define HEADRACE_BANKS_BANK_PLAN_HPP

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <headrace/banks/memory_map.hpp>
#include <headrace/base/result.hpp>

namespace headrace {

/// A tensor, or other bytes, that need memory in some bank.
struct bank_item {
    std::string name{};
    memory_use use = memory_use::arena;
    std::uint64_t bytes = 0;
    std::uint64_t accessed = 0;  ///< bytes read and written in one inference
    std::uint32_t model = 0;     ///< index in `banked_models::names`
    std::uint32_t first = 0;     ///< for `arena`: the steps of its model in which it is live, both inclusive
    std::uint32_t last = 0;
};

/// Models that share the banks of a board.
struct banked_models {
    std::vector<std::string> names{};
    std::vector<bank_item> items{};
    bool run_at_once = false;  ///< if false, an inference of one ends before that of another begins
};

/// True if both need their bytes at the same time.
[[nodiscard]] bool are_live_at_once(const bank_item& a, const bank_item& b, bool models_run_at_once);

/// Returns the step at which each model begins, in the time that all models share, and the number of steps.
[[nodiscard]] std::vector<std::uint32_t> first_steps(const banked_models& models);

struct bank_place {
    std::uint32_t bank = std::numeric_limits<std::uint32_t>::max();  ///< index in the map
    std::uint64_t offset = 0;

    friend bool operator==(const bank_place&, const bank_place&) = default;
};

/// The figures of one bank. All are multiples of its alignment.
struct planned_bank {
    std::uint64_t bytes = 0;        ///< the highest end of an item
    std::uint64_t lower_bound = 0;  ///< no plan that assigns the same items to this bank needs less
    std::uint64_t fixed_bytes = 0;  ///< constants, states and the stack, which lie below the arenas
    bool is_optimal = false;        ///< `bytes` is proven to be the minimum for the items of this bank

    /// Returns how much more than the lower bound the plan needs: 0.02 is 2 %.
    [[nodiscard]] double gap() const {
        return lower_bound == 0 ? 0 : static_cast<double>(bytes) / static_cast<double>(lower_bound) - 1;
    }
};

struct bank_plan {
    std::vector<bank_place> places{};   ///< parallel to the items
    std::vector<planned_bank> banks{};  ///< parallel to the map's
    double cycles = 0;                  ///< of all accesses in one inference of each model
    double least_cycles = 0;            ///< if each item were in the fastest bank that may hold it
    bool is_fastest = false;  ///< no assignment of the items to banks is proven to take fewer cycles
};

/// Assigns each item to a bank, such that accesses take few cycles, and to an offset there. In each bank the
/// constants, states and the stack lie below the arenas, one of each model if they run at once, else one that
/// all share. Items with many accesses per byte go to fast banks first.
///
/// An error names the bank that is too small, the bytes that it lacks, and the largest tensors.
[[nodiscard]] result<bank_plan> make_bank_plan(const banked_models& models, const memory_map& map);

}  // namespace headrace

#endif
