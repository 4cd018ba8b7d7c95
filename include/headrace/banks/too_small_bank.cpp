// SPDX-License-Identifier: MIT
// Defines headrace::too_small_bank.

#include <headrace/banks/too_small_bank.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

#include <headrace/banks/arena_packing.hpp>
#include <headrace/banks/bank_assignment.hpp>
#include <headrace/base/printable.hpp>
#include <headrace/base/text.hpp>

namespace headrace {

namespace {

using indices = std::vector<std::size_t>;

// Returns the largest bank that may hold an item.
std::uint32_t largest_choice(const bank_assignment& assigned, const memory_map& map, std::size_t item) {
    return *std::ranges::max_element(
        assigned.choices(item), {}, [&](std::uint32_t b) { return map.banks[b].capacity(); });
}

// Returns the items in a bank that are live at the fullest moment, the largest first.
indices items_at_peak(const banked_models& models, const bank_assignment& assigned, std::uint32_t bank) {
    indices found, of_bank;
    for (std::size_t i = 0; i != models.items.size(); ++i) {
        if (assigned.bank_of(i) == bank) of_bank.push_back(i);
    }
    std::ranges::stable_sort(
        of_bank, [&](auto a, auto b) { return models.items[a].bytes > models.items[b].bytes; });
    // Live bytes are at their peak where a tensor's life begins, and a large one is near it.
    constexpr std::size_t max_moments = 500;
    indices moments;
    for (const std::size_t i : of_bank) {
        if (models.items[i].use == memory_use::arena && moments.size() < max_moments) moments.push_back(i);
    }
    if (moments.empty()) return of_bank;
    std::uint64_t most = 0;
    for (const std::size_t at : moments) {
        bank_item begin = models.items[at];
        begin.last = begin.first;
        indices live;
        std::uint64_t sum = 0;
        for (const std::size_t i : of_bank) {
            if (!are_live_at_once(models.items[i], begin, models.run_at_once)) continue;
            live.push_back(i);
            sum += models.items[i].bytes;
        }
        if (sum <= most) continue;
        most = sum;
        found = std::move(live);
    }
    return found;  // in the order of of_bank
}

std::pmr::string largest_text(const banked_models& models, const indices& items) {
    constexpr std::size_t max_named = 4;
    std::pmr::string text;
    for (std::size_t i = 0; i != std::min(items.size(), max_named); ++i) {
        const bank_item& item = models.items[items[i]];
        if (!text.empty()) text += ", ";
        text += text_of({"'", printable(item.name), "'"});
        if (models.names.size() > 1) text += text_of({" of ", printable(models.names[item.model])});
        text += text_of({" (", name_of(item.use), ", ", item.bytes, " bytes)"});
    }
    return text;
}

std::uint64_t packed_bytes_of(
    const banked_models& models, const memory_bank& bank, const bank_assignment& assigned, std::uint32_t b) {
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i != models.items.size(); ++i) {
        const bank_item& item = models.items[i];
        if (assigned.bank_of(i) == b && item.use != memory_use::arena) bytes += bank.aligned(item.bytes);
    }
    for (const bank_assignment::arena& arena : assigned.arenas(b)) bytes += pack_arena(arena.blocks).bytes;
    return bytes;
}

}  // namespace

error too_small_bank(const banked_models& models, const memory_map& map) {
    bank_assignment assigned(models, map);
    indices by_size(models.items.size());
    std::iota(by_size.begin(), by_size.end(), std::size_t{0});
    std::ranges::stable_sort(
        by_size, [&](auto a, auto b) { return models.items[a].bytes > models.items[b].bytes; });
    std::optional<std::uint32_t> over;
    for (const std::size_t i : by_size) {
        const bank_item& item = models.items[i];
        const auto choices = assigned.choices(i);
        if (choices.empty()) continue;
        const auto room = std::ranges::find_if(choices, [&](std::uint32_t b) { return assigned.fits(i, b); });
        const std::uint32_t bank = room != choices.end() ? *room : largest_choice(assigned, map, i);
        if (room == choices.end() && !over) over = bank;
        if (room == choices.end() && item.bytes > map.banks[bank].capacity())
            return unsupported({"'", printable(item.name), "' (", name_of(item.use), ") has ", item.bytes,
                " bytes; the largest bank that may hold it, '", printable(map.banks[bank].name), "', has ",
                map.banks[bank].capacity(), ": ", item.bytes - map.banks[bank].capacity(), " are missing"});
        assigned.put(i, bank);
    }
    // Live bytes fit in every bank: the offsets of the fullest do not.
    const auto lacks = [&](std::uint32_t b) {
        const std::uint64_t bytes = packed_bytes_of(models, map.banks[b], assigned, b);
        return bytes - std::min(bytes, map.banks[b].capacity());
    };
    for (std::uint32_t b = 0; b != map.banks.size() && !over; ++b) {
        if (lacks(b) != 0) over = b;
    }
    if (!over) return unsupported("the models do not fit in the banks of the memory map");
    const memory_bank& bank = map.banks[*over];
    return unsupported({"bank '", printable(bank.name), "' lacks ", lacks(*over), " bytes: it has ",
        bank.capacity(), ", and ", bank.capacity() + lacks(*over),
        " are needed for what fits in no other bank; the largest at its fullest step are ",
        largest_text(models, items_at_peak(models, assigned, *over))});
}

}  // namespace headrace
