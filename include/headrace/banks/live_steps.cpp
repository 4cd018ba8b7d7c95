// SPDX-License-Identifier: MIT
// Defines headrace::keep_live_steps.

#include <headrace/banks/live_steps.hpp>

#include <algorithm>

namespace headrace {

std::vector<std::uint64_t> keep_live_steps(std::vector<detail::memory_block>& blocks) {
    std::vector<std::uint32_t> starts;
    for (const detail::memory_block& b : blocks) starts.push_back(b.first);
    std::ranges::sort(starts);
    starts.erase(std::unique(starts.begin(), starts.end()), starts.end());
    std::vector<std::uint64_t> live(starts.size());
    for (detail::memory_block& b : blocks) {
        const auto place = [&](auto at) { return static_cast<std::uint32_t>(at - starts.begin()); };
        b.first = place(std::ranges::lower_bound(starts, b.first));
        b.last = place(std::ranges::upper_bound(starts, b.last)) - 1;
        for (std::uint32_t s = b.first; s <= b.last; ++s) live[s] += b.bytes;
    }
    return live;
}

}  // namespace headrace
