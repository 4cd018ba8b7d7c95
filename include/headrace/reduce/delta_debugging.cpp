// SPDX-License-Identifier: MIT
// Defines headrace::reducing::leave_out.

#include <headrace/reduce/delta_debugging.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace headrace::reducing {

result<item_list> leave_out(item_list items, function_ref<result<bool>(const item_list& kept)> holds) {
    for (std::size_t part = items.size(); part != 0;) {
        bool any = false;
        for (std::size_t end = items.size(); end != 0;) {
            const std::size_t begin = end - std::min(part, end);
            item_list kept = items;
            kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(begin),
                kept.begin() + static_cast<std::ptrdiff_t>(end));
            HEADRACE_TRY(suffices, holds(kept));
            if (suffices) items = std::move(kept);
            any = any || suffices;
            end = begin;
        }
        part = std::min(part, items.size());
        if (part != 1 || !any) part /= 2;
    }
    return items;
}

}  // namespace headrace::reducing
