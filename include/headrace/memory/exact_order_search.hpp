// SPDX-License-Identifier: MIT
// Defines headrace::detail::exact_order_search, which finds the order that needs the least memory.
#ifndef HEADRACE_MEMORY_EXACT_ORDER_SEARCH_HPP
#define HEADRACE_MEMORY_EXACT_ORDER_SEARCH_HPP

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <span>
#include <tuple>

#include <headrace/base/flat_map.hpp>
#include <headrace/base/mix.hpp>
#include <headrace/base/pmr_vector.hpp>
#include <headrace/memory/order_problem.hpp>

namespace headrace::detail {

/// Best-first search over sets of executed nodes, lowest peak first. A node that raises neither the peak nor
/// the memory in use is executed at once: delaying it never helps.
class exact_order_search {
public:
    using numbers = order_problem::numbers;
    static constexpr std::uint32_t max_size = 64;

    explicit exact_order_search(const order_problem& of)
        : p(of), sources(of.items.size()), readers(of.buffer_bytes.size()) {
        for (std::size_t i = 0; i != sources.size(); ++i) sources[i] = set_of(p.sources[i]);
        for (std::size_t b = 0; b != readers.size(); ++b) readers[b] = set_of(p.readers[b]);
    }

    // Returns the best order with a peak below `below`, empty if none exists; nothing if it needs more
    // states.
    std::optional<numbers> run(std::uint64_t below, std::size_t& states_left) {
        add({0, p.live, 0, none, none, p.size()});
        while (!queue.empty()) {
            const std::uint32_t at = std::get<2>(queue.top());
            queue.pop();
            const bool is_done = states[at].done == all;
            if (is_done || states.size() > states_left) {
                states_left -= std::min(states_left, states.size());
                return is_done ? std::optional(order_to(at)) : std::nullopt;
            }
            expand(at, below);
        }
        states_left -= std::min(states_left, states.size());
        return numbers();
    }

private:
    static constexpr std::uint32_t none = static_cast<std::uint32_t>(-1);
    struct state {
        std::uint64_t done, live, peak;
        std::uint32_t from, item;
        std::uint32_t missing;  // number of nodes to be executed
    };

    static std::uint64_t set_of(std::span<const std::uint32_t> numbers) {
        std::uint64_t set = 0;
        for (const std::uint32_t n : numbers) set |= std::uint64_t{1} << n;
        return set;
    }
    void expand(std::uint32_t at, std::uint64_t below) {
        const state from = states[at];
        const std::size_t first = next.size();
        for (std::uint64_t rest = all & ~from.done; rest != 0; rest &= rest - 1) {
            const auto i = static_cast<std::uint32_t>(std::countr_zero(rest));
            const std::uint64_t bit = std::uint64_t{1} << i;
            if ((sources[i] & ~from.done) != 0) continue;
            const order_problem::item& item = p.items[i];
            const std::uint64_t peak = std::max(from.peak, from.live + item.made + item.extra);
            std::uint64_t live = from.live + item.made - item.dead;
            for (const std::uint32_t b : p.reads[i]) {
                if ((readers[b] & ~(from.done | bit)) == 0) live -= p.buffer_bytes[b];
            }
            if (peak >= below) continue;
            const state to{from.done | bit, live, peak, at, i, from.missing - 1};
            if (peak == from.peak && live <= from.live) {
                next.resize(first);
                next.push_back(to);
                break;
            }
            next.push_back(to);
        }
        for (const state& s : next) add(s);
        next.clear();
    }
    void add(const state& s) {
        const auto is_same_set = [&](std::uint32_t n) { return states[n - 1].done == s.done; };
        std::uint32_t& known = best.find_or_add(mix(0, s.done), is_same_set);
        if (known != 0 && states[known - 1].peak <= s.peak) return;
        queue.push({s.peak, s.missing, static_cast<std::uint32_t>(states.size())});
        states.push_back(s);
        known = static_cast<std::uint32_t>(states.size());
    }
    [[nodiscard]] numbers order_to(std::uint32_t at) const {
        numbers order;
        for (; states[at].from != none; at = states[at].from) order.push_back(states[at].item);
        std::reverse(order.begin(), order.end());
        return order;
    }

    using entry = std::tuple<std::uint64_t, std::uint32_t, std::uint32_t>;
    const order_problem& p;
    const std::uint64_t all = ~std::uint64_t{0} >> (max_size - p.size());  // the set of all nodes
    pmr_vector<std::uint64_t> sources, readers;
    pmr_vector<state> states{}, next{};
    flat_map<std::uint32_t> best{};  // by set, the number from 1 of its state with the lowest peak
    std::priority_queue<entry, pmr_vector<entry>, std::greater<entry>> queue{};
};

}  // namespace headrace::detail

#endif
