// SPDX-License-Identifier: MIT
// Defines headrace::edit_distance, how far two words are apart, for suggestions.
#ifndef HEADRACE_BASE_EDIT_DISTANCE_HPP
#define HEADRACE_BASE_EDIT_DISTANCE_HPP

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string_view>

#include <headrace/base/pmr_vector.hpp>

namespace headrace {

/// Returns the number of letters to insert, remove or change to turn one word into the other.
[[nodiscard]] inline std::size_t edit_distance(std::string_view a, std::string_view b) {
    pmr_vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i != a.size(); ++i) {
        std::size_t diagonal = row[0]++;
        for (std::size_t k = 0; k != b.size(); ++k) {
            const std::size_t changed = diagonal + (a[i] == b[k] ? 0 : 1);
            diagonal = row[k + 1];
            row[k + 1] = std::min({changed, row[k] + 1, row[k + 1] + 1});
        }
    }
    return row[b.size()];
}

}  // namespace headrace

#endif
