// SPDX-License-Identifier: MIT
// Defines the functions of headrace/banks/bank_search.hpp.

#include <headrace/banks/bank_search.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>

namespace headrace {

std::vector<bank_search::order_type> bank_search::orders() const {
    const auto& items = models_.items;
    std::vector<std::uint32_t> steps(models_.names.size());
    for (const bank_item& i : items) steps[i.model] = std::max(steps[i.model], i.last + 1);
    order_type all(items.size());
    std::iota(all.begin(), all.end(), 0U);
    const auto sorted = [&](auto&& key) {
        order_type order = all;
        std::vector<double> keys;
        for (const bank_item& i : items) keys.push_back(key(i));
        std::ranges::stable_sort(order, [&](auto a, auto b) { return keys[a] > keys[b]; });
        return order;
    };
    const auto bytes = [](const bank_item& i) {
        return static_cast<double>(std::max<std::uint64_t>(i.bytes, 1));
    };
    const auto share_of_time = [&](const bank_item& i) {
        return i.use == memory_use::arena
            ? static_cast<double>(i.last - i.first + 1) / static_cast<double>(steps[i.model])
            : 1.0;
    };
    const auto accesses = [](const bank_item& i) { return static_cast<double>(i.accessed); };
    return {sorted([&](const bank_item& i) { return accesses(i) / bytes(i); }),
        sorted([&](const bank_item& i) { return accesses(i) / (bytes(i) * share_of_time(i)); }),
        sorted([&](const bank_item& i) { return accesses(i); }), sorted(bytes)};
}

bool bank_search::fill(const order_type& order) {
    assigned_.clear();
    return std::ranges::all_of(order, [&](std::uint32_t i) {
        for (const std::uint32_t b : assigned_.choices(i)) {
            if (!assigned_.fits(i, b)) continue;
            assigned_.put(i, b);
            return true;
        }
        return false;
    });
}

// Fills the slowest bank first: it leaves room in the fast ones, where items fit that fit nowhere else.
bool bank_search::fill_slow(const order_type& by_size) {
    assigned_.clear();
    return std::ranges::all_of(by_size, [&](std::uint32_t i) {
        const auto choices = assigned_.choices(i);
        for (std::size_t k = choices.size(); k-- != 0;) {
            if (!assigned_.fits(i, choices[k])) continue;
            assigned_.put(i, choices[k]);
            return true;
        }
        return false;
    });
}

void bank_search::take(const std::vector<std::uint32_t>& banks) {
    assigned_.clear();
    for (std::size_t i = 0; i != banks.size(); ++i) assigned_.put(i, banks[i]);
}

void bank_search::keep_if_better() {
    const double cycles = assigned_.cycles();
    if (!best_.empty() && cycles >= best_cycles_) return;
    best_cycles_ = cycles;
    best_.assign(assigned_.all().begin(), assigned_.all().end());
}

void bank_search::move_to_faster(const order_type& by_accesses) {
    for (const std::uint32_t i : by_accesses) {
        for (const std::uint32_t b : assigned_.choices(i)) {
            const std::uint32_t from = assigned_.bank_of(i);
            if (b == from || assigned_.cycles(i, b) >= assigned_.cycles(i, from)) break;
            if (!assigned_.fits(i, b)) continue;
            assigned_.remove(i);
            assigned_.put(i, b);
            break;
        }
    }
}

// The hot item gets the cold one's bank, which gets any other that has room.
bool bank_search::try_exchange(std::uint32_t hot, std::uint32_t cold) {
    const std::uint32_t fast = assigned_.bank_of(cold);
    const std::uint32_t slow = assigned_.bank_of(hot);
    assigned_.remove(cold);
    if (assigned_.fits(hot, fast)) {
        assigned_.remove(hot);
        assigned_.put(hot, fast);
        for (const std::uint32_t b : assigned_.choices(cold)) {
            const double gain = assigned_.cycles(hot, slow) + assigned_.cycles(cold, fast) -
                assigned_.cycles(hot, fast) - assigned_.cycles(cold, b);
            if (gain <= 0) break;
            if (!assigned_.fits(cold, b)) continue;
            assigned_.put(cold, b);
            return true;
        }
        assigned_.remove(hot);
        assigned_.put(hot, slow);
    }
    assigned_.put(cold, fast);
    return false;
}

void bank_search::exchange(const order_type& by_accesses) {
    constexpr std::size_t max_tries = 20'000;
    constexpr std::size_t max_pairs = 20'000'000;
    std::size_t tries = 0, pairs = 0;
    for (const std::uint32_t hot : by_accesses) {
        for (auto at = by_accesses.rbegin(); at != by_accesses.rend() && *at != hot; ++at) {
            if (++pairs > max_pairs) return;
            const std::uint32_t slow = assigned_.bank_of(hot);
            const std::uint32_t fast = assigned_.bank_of(*at);
            if (fast == slow || assigned_.cycles(hot, fast) >= assigned_.cycles(hot, slow)) continue;
            if (++tries > max_tries) return;
            if (try_exchange(hot, *at)) break;
        }
    }
}

void bank_search::search_all(const order_type& order, std::size_t at, double cycles, std::size_t& visits) {
    if (at == order.size()) {
        best_cycles_ = cycles;
        best_.assign(assigned_.all().begin(), assigned_.all().end());
        return;
    }
    for (const std::uint32_t b : assigned_.choices(order[at])) {
        const double sum = cycles + assigned_.cycles(order[at], b);
        if (visits == 0 || (!best_.empty() && sum + least_of_rest_[at + 1] >= best_cycles_)) return;
        --visits;
        if (!assigned_.fits(order[at], b)) continue;
        assigned_.put(order[at], b);
        search_all(order, at + 1, sum, visits);
        assigned_.remove(order[at]);
    }
}

bank_search::outcome bank_search::run() {
    const std::vector<order_type> all = orders();
    const order_type& by_accesses = all[2];
    const order_type& by_size = all[3];
    const auto improve = [&] {
        move_to_faster(by_accesses);
        exchange(by_accesses);
        keep_if_better();
    };
    for (const order_type& order : all) {
        if (fill(order)) improve();
    }
    if (best_.empty() && fill_slow(by_size)) improve();
    constexpr std::size_t max_items = 40;
    std::size_t visits = 200'000;
    const bool is_least = !best_.empty() && best_cycles_ <= assigned_.least_cycles();
    if (!is_least && by_size.size() <= max_items) {
        least_of_rest_.assign(by_size.size() + 1, 0);
        for (std::size_t i = by_size.size(); i-- != 0;) {
            const auto choices = assigned_.choices(by_accesses[i]);
            const double least = choices.empty() ? 0 : assigned_.cycles(by_accesses[i], choices.front());
            least_of_rest_[i] = least_of_rest_[i + 1] + least;
        }
        assigned_.clear();
        search_all(by_accesses, 0, 0, visits);
    } else if (!is_least) {
        visits = 0;
    }
    if (best_.empty()) return outcome::none;
    take(best_);
    return visits != 0 ? outcome::fastest : outcome::found;
}

}  // namespace headrace
