// SPDX-License-Identifier: MIT
// Defines headrace::pte::plan_bank_places.

#include <headrace/io/pte/writing/bank_places.hpp>

#include <cstddef>

#include <headrace/banks/bank_plan.hpp>
#include <headrace/banks/check_bank_plan.hpp>
#include <headrace/banks/graph_items.hpp>

namespace headrace::pte {

result<bank_places> plan_bank_places(const graph& g, const memory_map& map) {
    banked_models all;
    HEADRACE_TRY(values, add_graph_items(all, "method", g));
    banked_models planned{.names = all.names};
    std::vector<value> tensors;
    for (std::size_t i = 0; i != all.items.size(); ++i) {
        if (all.items[i].use == memory_use::constants) continue;
        planned.items.push_back(all.items[i]);
        planned.items.back().use = memory_use::arena;
        tensors.push_back(values[i]);
    }
    if (map.stack_bytes != 0)
        planned.items.push_back({.name = "stack", .use = memory_use::stack, .bytes = map.stack_bytes});
    HEADRACE_TRY(plan, make_bank_plan(planned, map));
    HEADRACE_TRY(check_bank_plan(planned, map, plan.places));
    bank_places made;
    std::vector<std::uint32_t> memories(map.banks.size());
    for (std::size_t b = 0; b != map.banks.size(); ++b) {
        if (!map.banks[b].may_hold(memory_use::arena)) continue;
        made.bytes.push_back(plan.banks[b].bytes - plan.banks[b].fixed_bytes);
        made.lower_bounds.push_back(plan.banks[b].lower_bound - plan.banks[b].fixed_bytes);
        memories[b] = static_cast<std::uint32_t>(made.bytes.size());
    }
    for (std::size_t i = 0; i != tensors.size(); ++i) {
        const bank_place& at = plan.places[i];
        made.tensors[{tensors[i].producer, tensors[i].result}] = {
            .memory = memories[at.bank], .offset = at.offset - plan.banks[at.bank].fixed_bytes};
    }
    return made;
}

}  // namespace headrace::pte
