// SPDX-License-Identifier: MIT
// Defines headrace::make_bank_plan.

#include <headrace/banks/bank_plan.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <headrace/banks/arena_packing.hpp>
#include <headrace/banks/bank_assignment.hpp>
#include <headrace/banks/bank_search.hpp>
#include <headrace/banks/too_small_bank.hpp>
#include <headrace/base/printable.hpp>

namespace headrace {

namespace {

// Packs the items of one bank: fixed ones in order, the arenas above them.
planned_bank pack_bank(const banked_models& models, const memory_bank& bank, std::uint32_t number,
    const bank_assignment& assigned, std::vector<bank_place>& places) {
    planned_bank figures{.is_optimal = true};
    for (std::size_t i = 0; i != models.items.size(); ++i) {
        const bank_item& item = models.items[i];
        if (assigned.bank_of(i) != number) continue;
        places[i] = {number, figures.fixed_bytes};
        if (item.use != memory_use::arena) figures.fixed_bytes += bank.aligned(item.bytes);
    }
    figures.bytes = figures.lower_bound = figures.fixed_bytes;
    for (const bank_assignment::arena& arena : assigned.arenas(number)) {
        const packed_arena packed = pack_arena(arena.blocks);
        for (std::size_t k = 0; k != arena.items.size(); ++k)
            places[arena.items[k]] = {number, figures.bytes + packed.offsets[k]};
        figures.bytes += packed.bytes;
        figures.lower_bound += packed.lower_bound;
        figures.is_optimal = figures.is_optimal && packed.is_optimal;
    }
    return figures;
}

// Packs all banks. Returns nothing if one has more than its capacity; its limit is lowered then.
std::optional<bank_plan> pack_all(
    const banked_models& models, const memory_map& map, bank_assignment& assigned, std::uint64_t round) {
    bank_plan plan{.places = std::vector<bank_place>(models.items.size())};
    bool fits = true;
    for (std::uint32_t b = 0; b != map.banks.size(); ++b) {
        plan.banks.push_back(pack_bank(models, map.banks[b], b, assigned, plan.places));
        const std::uint64_t bytes = plan.banks.back().bytes;
        const std::uint64_t capacity = map.banks[b].capacity();
        if (bytes <= capacity) continue;
        fits = false;
        // From the third round on also by a part of the capacity, so that few rounds are needed.
        assigned.lower_limit(b, bytes - capacity + (round < 2 ? 0 : capacity / 128 * (round - 1)));
    }
    if (!fits) return std::nullopt;
    plan.cycles = assigned.cycles();
    plan.least_cycles = assigned.least_cycles();
    plan.is_fastest = plan.cycles <= plan.least_cycles;
    return plan;
}

result<void> check_map(const banked_models& models, const memory_map& map) {
    constexpr std::uint64_t max_total = std::uint64_t{1} << 62;  // sums of aligned sizes do not overflow
    std::uint64_t total = 0;
    for (const bank_item& i : models.items) {
        if (i.bytes > max_total - total)
            return unsupported({"the tensors are too large for any memory, at '", printable(i.name), "'"});
        total += i.bytes;
        const auto holds = [&](const memory_bank& b) { return b.may_hold(i.use); };
        if (i.bytes != 0 && std::ranges::none_of(map.banks, holds))
            return unsupported({"no bank of the memory map may hold ", name_of(i.use), ", and '",
                printable(i.name), "' has ", i.bytes, " bytes of it"});
    }
    return {};
}

}  // namespace

result<bank_plan> make_bank_plan(const banked_models& models, const memory_map& map) {
    HEADRACE_TRY(check_map(models, map));
    // Offsets may need more than the live bytes: items leave a bank until its packing fits.
    constexpr std::uint64_t max_rounds = 12;
    bank_assignment assigned(models, map);
    for (std::uint64_t round = 0; round != max_rounds; ++round) {
        const bank_search::outcome found = bank_search(models, assigned).run();
        if (found == bank_search::outcome::none) break;
        if (auto plan = pack_all(models, map, assigned, round)) {
            // Lowered limits exclude assignments that another packing might allow.
            plan->is_fastest = plan->is_fastest || (round == 0 && found == bank_search::outcome::fastest);
            return std::move(*plan);
        }
    }
    return too_small_bank(models, map);
}

}  // namespace headrace
