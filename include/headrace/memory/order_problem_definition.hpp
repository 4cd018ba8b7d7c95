// SPDX-License-Identifier: MIT
// Defines the functions of memory/order_problem.hpp.
#ifndef HEADRACE_MEMORY_ORDER_PROBLEM_DEFINITION_HPP
#define HEADRACE_MEMORY_ORDER_PROBLEM_DEFINITION_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <queue>
#include <span>
#include <utility>

#include <headrace/base/compiled.hpp>
#include <headrace/base/pmr_vector.hpp>

namespace headrace::detail {

HEADRACE_INLINE order_problem::lists order_problem::lists::inverse(std::size_t count) const {
    lists found{numbers(count), numbers(all.size())};
    for (const std::uint32_t held : all) ++found.ends[held];
    // `ends` holds where each list begins for now; filling a list advances it to the list's end.
    std::exclusive_scan(found.ends.begin(), found.ends.end(), found.ends.begin(), 0U);
    for (std::uint32_t i = 0; i != ends.size(); ++i) {
        for (const std::uint32_t held : (*this)[i]) found.all[found.ends[held]++] = i;
    }
    return found;
}

HEADRACE_INLINE std::uint64_t order_problem::peak_of(const numbers& order) const {
    numbers left = reader_counts();
    std::uint64_t now = live, peak = 0;
    for (const std::uint32_t i : order) {
        now += items[i].made;
        peak = std::max(peak, now + items[i].extra);
        now -= items[i].dead;
        for (const std::uint32_t b : reads[i]) {
            if (--left[b] == 0) now -= buffer_bytes[b];
        }
    }
    return peak;
}

/// Depth first, as if the nodes were a tree: the operand that needs the most memory beyond its result is
/// computed first, before the results of the others exist.
HEADRACE_INLINE order_problem::numbers order_problem::deepest_first() const {
    pmr_vector<std::uint64_t> needs(items.size());
    lists ordered = sources;
    for (std::uint32_t i = 0; i != size(); ++i) {
        const auto beyond = [&](std::uint32_t s) { return needs[s] - items[s].made; };
        const std::span<std::uint32_t> own =
            std::span(ordered.all).subspan(ordered.ends[i] - sources[i].size(), sources[i].size());
        std::sort(own.begin(), own.end(), [&](std::uint32_t a, std::uint32_t b) {
            return beyond(a) != beyond(b) ? beyond(a) > beyond(b) : a < b;
        });
        std::uint64_t held = 0;
        for (const std::uint32_t s : own) {
            needs[i] = std::max(needs[i], held + needs[s]);
            held += items[s].made;
        }
        needs[i] = std::max(needs[i], held + items[i].made + items[i].extra);
    }
    numbers order, path, next(items.size());
    pmr_vector<bool> placed(items.size());
    for (std::uint32_t end = 0; end != size(); ++end) {
        if (!users[end].empty()) continue;
        path.push_back(end);
        while (!path.empty()) {
            const std::uint32_t at = path.back();
            if (next[at] != ordered[at].size()) {
                const std::uint32_t source = ordered[at][next[at]++];
                if (!placed[source]) path.push_back(source);
                continue;
            }
            path.pop_back();
            if (!placed[at]) order.push_back(at);
            placed[at] = true;
        }
    }
    return order;
}

/// Greedily: of the nodes that are ready, takes the one after which the least memory is in use.
HEADRACE_INLINE order_problem::numbers order_problem::smallest_first() const {
    using entry = std::pair<std::int64_t, std::uint32_t>;
    std::priority_queue<entry, pmr_vector<entry>, std::greater<entry>> ready;
    numbers missing(items.size()), left = reader_counts(), order;
    pmr_vector<bool> placed(items.size());
    const auto add = [&](std::uint32_t i) {
        auto growth = static_cast<std::int64_t>(items[i].made - items[i].dead);
        for (const std::uint32_t b : reads[i]) {
            if (left[b] == 1) growth -= static_cast<std::int64_t>(buffer_bytes[b]);
        }
        ready.push({growth, i});
    };
    for (std::uint32_t i = 0; i != size(); ++i) {
        missing[i] = static_cast<std::uint32_t>(sources[i].size());
        if (missing[i] == 0) add(i);
    }
    while (!ready.empty()) {
        const std::uint32_t at = ready.top().second;
        ready.pop();
        if (placed[at]) continue;  // it was placed before, with a smaller growth
        placed[at] = true;
        order.push_back(at);
        for (const std::uint32_t b : reads[at]) {
            if (--left[b] != 1) continue;
            for (const std::uint32_t u : readers[b]) {
                if (!placed[u] && missing[u] == 0) add(u);
            }
        }
        for (const std::uint32_t u : users[at]) {
            if (--missing[u] == 0) add(u);
        }
    }
    return order;
}

}  // namespace headrace::detail

#endif
