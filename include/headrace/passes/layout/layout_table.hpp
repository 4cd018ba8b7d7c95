// SPDX-License-Identifier: MIT
// Defines headrace::layout_table, which numbers layouts and computes the cost of converting between them.
#ifndef HEADRACE_PASSES_LAYOUT_LAYOUT_TABLE_HPP
#define HEADRACE_PASSES_LAYOUT_LAYOUT_TABLE_HPP

#include <algorithm>
#include <cstdint>
#include <memory_resource>
#include <unordered_map>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/infer/tosa.hpp>
#include <headrace/passes/layout/layout_algebra.hpp>

namespace headrace {

/// Numbers layouts: equal layouts have equal numbers, and 0 is row-major.
class layout_table {
public:
    using number = std::uint32_t;

    [[nodiscard]] const layout& operator[](number n) const { return items_[n]; }
    [[nodiscard]] number of(const layout& l) {
        if (l.row_major()) return 0;
        const auto at = static_cast<std::size_t>(std::find(items_.begin(), items_.end(), l) - items_.begin());
        if (at == items_.size()) items_.push_back(l);
        return static_cast<number>(at);
    }
    /// Returns how many times a tensor's bytes are moved to convert it from one layout to another.
    [[nodiscard]] std::int64_t moves(number from, number to) {
        if (from == to) return 0;
        const auto [at, is_new] = moves_.try_emplace(std::uint64_t{from} << 32U | to);
        if (is_new) at->second = count_moves(items_[from], items_[to]);
        return at->second;
    }
    static constexpr std::int64_t impossible = std::int64_t{1} << 20U;

private:
    static std::int64_t count_moves(const layout& from, const layout& to) {
        const auto way = then(inverse(from), to);
        if (!way) return 2;  // through row-major
        if (way->order.size() > static_cast<std::size_t>(tosa::level_8k::max_rank)) return impossible;
        return way->order.size() > 4 ? 2 : 1;  // NPUs move four axes at a time
    }

    pmr_vector<layout> items_{layout{}};
    std::pmr::unordered_map<std::uint64_t, std::int64_t> moves_;
};

}  // namespace headrace

#endif
