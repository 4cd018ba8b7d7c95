// SPDX-License-Identifier: MIT
// Defines the functions of headrace/run/oversized.hpp.

#include <headrace/run/oversized.hpp>

#include <algorithm>
#include <span>

#include <headrace/base/sizes.hpp>
#include <headrace/ir/regions.hpp>

namespace headrace {

const node* find_oversized(const graph& g) {
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
