// SPDX-License-Identifier: MIT
// Defines the functions of headrace/banks/bank_assignment.hpp.

#include <headrace/banks/bank_assignment.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace headrace {

bool are_live_at_once(const bank_item& a, const bank_item& b, bool models_run_at_once) {
    if (a.use != memory_use::arena || b.use != memory_use::arena) return true;
    if (a.model != b.model) return models_run_at_once;
    return a.first <= b.last && b.first <= a.last;
}

std::vector<std::uint32_t> first_steps(const banked_models& models) {
    std::vector<std::uint32_t> steps(models.names.size());
    for (const bank_item& i : models.items) steps[i.model] = std::max(steps[i.model], i.last + 1);
    std::uint32_t end = 0;
    for (std::uint32_t& s : steps) {
        if (models.run_at_once) {
            end = std::max(end, s);
            s = 0;
        } else {
            end += std::exchange(s, end);
        }
    }
    steps.push_back(end);
    return steps;
}

bank_assignment::bank_assignment(const banked_models& models, const memory_map& map)
    : models_(models), map_(map), banks_of_(models.items.size(), none), shifts_(first_steps(models)) {
    for (const memory_use use : memory_uses) {
        std::vector<std::uint32_t>& choices = choices_.emplace_back();
        for (std::uint32_t b = 0; b != map.banks.size(); ++b) {
            if (map.banks[b].may_hold(use)) choices.push_back(b);
        }
        std::ranges::stable_sort(choices,
            [&](auto a, auto b) { return map.banks[a].bytes_per_cycle > map.banks[b].bytes_per_cycle; });
    }
    const std::size_t arenas = models.run_at_once ? models.names.size() : 1;
    const live_bytes empty{.at_step = std::vector<std::uint64_t>(shifts_.back())};
    arenas_.assign(map.banks.size(), std::vector(arenas, empty));
    fixed_.assign(map.banks.size(), 0);
    for (const memory_bank& b : map.banks) limits_.push_back(b.capacity());
}

double bank_assignment::cycles() const {
    double sum = 0;
    for (std::size_t i = 0; i != banks_of_.size(); ++i) sum += cycles(i, banks_of_[i]);
    return sum;
}

double bank_assignment::least_cycles() const {
    double sum = 0;
    for (std::size_t i = 0; i != banks_of_.size(); ++i) {
        if (!choices(i).empty()) sum += cycles(i, choices(i).front());
    }
    return sum;
}

std::uint64_t bank_assignment::used(std::uint32_t bank) const {
    std::uint64_t sum = fixed_[bank];
    for (const live_bytes& a : arenas_[bank]) sum += a.peak;
    return sum;
}

std::uint64_t bank_assignment::max_live(const live_bytes& live, const bank_item& i) const {
    const auto begin = live.at_step.begin() + shift_of(i);
    return *std::max_element(begin + i.first, begin + i.last + 1);
}

bool bank_assignment::fits(std::size_t item, std::uint32_t bank) const {
    const bank_item& i = models_.items[item];
    if (!map_.banks[bank].may_hold(i.use)) return false;
    std::uint64_t more = map_.banks[bank].aligned(i.bytes);
    if (i.use == memory_use::arena) {
        const live_bytes& live = arenas_[bank][arena_of(i)];
        more = std::max(live.peak, max_live(live, i) + more) - live.peak;
    }
    return used(bank) + more <= limits_[bank];
}

void bank_assignment::put(std::size_t item, std::uint32_t bank) {
    const bank_item& i = models_.items[item];
    const std::uint64_t bytes = map_.banks[bank].aligned(i.bytes);
    banks_of_[item] = bank;
    if (i.use != memory_use::arena) {
        fixed_[bank] += bytes;
        return;
    }
    live_bytes& live = arenas_[bank][arena_of(i)];
    for (std::uint32_t s = i.first; s <= i.last; ++s) live.at_step[shift_of(i) + s] += bytes;
    live.peak = std::max(live.peak, max_live(live, i));
}

void bank_assignment::remove(std::size_t item) {
    const bank_item& i = models_.items[item];
    const std::uint32_t bank = banks_of_[item];
    const std::uint64_t bytes = map_.banks[bank].aligned(i.bytes);
    banks_of_[item] = none;
    if (i.use != memory_use::arena) {
        fixed_[bank] -= bytes;
        return;
    }
    live_bytes& live = arenas_[bank][arena_of(i)];
    const bool was_peak = max_live(live, i) == live.peak;
    for (std::uint32_t s = i.first; s <= i.last; ++s) live.at_step[shift_of(i) + s] -= bytes;
    if (was_peak) live.peak = *std::ranges::max_element(live.at_step);
}

void bank_assignment::clear() {
    std::ranges::fill(banks_of_, none);
    std::ranges::fill(fixed_, 0);
    for (auto& of_bank : arenas_) {
        for (live_bytes& a : of_bank) {
            std::ranges::fill(a.at_step, 0);
            a.peak = 0;
        }
    }
}

void bank_assignment::lower_limit(std::uint32_t bank, std::uint64_t by) {
    limits_[bank] -= std::min(limits_[bank], by);
}

std::vector<bank_assignment::arena> bank_assignment::arenas(std::uint32_t bank) const {
    std::vector<arena> all(arenas_[bank].size());
    for (std::size_t k = 0; k != models_.items.size(); ++k) {
        const bank_item& i = models_.items[k];
        if (banks_of_[k] != bank || i.use != memory_use::arena || i.bytes == 0) continue;
        arena& a = all[arena_of(i)];
        a.items.push_back(k);
        a.blocks.push_back({map_.banks[bank].aligned(i.bytes), shift_of(i) + i.first, shift_of(i) + i.last});
    }
    return all;
}

}  // namespace headrace
