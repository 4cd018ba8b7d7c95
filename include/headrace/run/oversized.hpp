// SPDX-License-Identifier: MIT
// Defines headrace::find_oversized, which finds the first tensor of 2^31 elements or more.
#ifndef HEADRACE_RUN_OVERSIZED_HPP
#define HEADRACE_RUN_OVERSIZED_HPP

#include <algorithm>
#include <cstdint>
#include <span>

#include <headrace/base/sizes.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/ir/regions.hpp>

namespace headrace {

/// The number of elements that exceeds TOSA's level 8K for any dtype: 2^31 - 1 bytes (TOSA 1.0, section 1.5).
inline constexpr std::int64_t oversized_elements = std::int64_t{1} << 31;

/// Returns the first node of a graph and its regions with such a result; null if there is none.
[[nodiscard]] inline const node* find_oversized(const graph& g) {
    const node* found = nullptr;
    for (const node& n : g.nodes()) {
        const bool is_oversized =
            std::ranges::any_of(std::span(n.results, n.result_count), [](const result_slot& r) {
                return r.meta && element_count(r.meta->shape) >= oversized_elements;
            });
        if (is_oversized) return &n;
        for_each_region(n, [&](const field_info&, const graph* region) {
            if (found == nullptr && region != nullptr) found = find_oversized(*region);
        });
        if (found != nullptr) return found;
    }
    return nullptr;
}

}  // namespace headrace

#endif
