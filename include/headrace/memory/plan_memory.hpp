// SPDX-License-Identifier: MIT
// Defines headrace::plan_memory, and the annotations that hold its plan.
#ifndef HEADRACE_MEMORY_PLAN_MEMORY_HPP
#define HEADRACE_MEMORY_PLAN_MEMORY_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <headrace/dialect/memory.hpp>
#include <headrace/ir/regions.hpp>
#include <headrace/memory/memory_plan.hpp>
#include <headrace/pass/pass_base.hpp>

namespace headrace {

/// The place of a tensor: the index of the program's memory, and the first byte there.
struct memory_place {
    std::int64_t memory = -1;  ///< negative: it has no memory of its own
    std::int64_t offset = 0;
    std::int64_t bytes = 0;

    friend constexpr bool operator==(const memory_place&, const memory_place&) = default;
};

/// Annotation: the place of each result of a node.
struct memory_places {
    static constexpr bool inherited = false;
    list<memory_place> of_results;
};

/// Annotation of a graph's output node: the size of each memory, and a lower bound for any plan.
struct memory_sizes {
    static constexpr bool inherited = false;
    list<std::int64_t> bytes;
    list<std::int64_t> lower_bounds;
};

/// Returns the place of a planned value; nothing for constants and for memory that the caller provides.
[[nodiscard]] inline std::optional<memory_place> place_of(value v) {
    const auto* places = v.producer->find_annotation<memory_places>();
    if (places == nullptr || places->of_results[v.result].memory < 0) return std::nullopt;
    return places->of_results[v.result];
}

/// Plans memory for every tensor of the graph and its nested graphs (memory/memory_plan.hpp), verifies the
/// plan, and stores it in the graph; this is ExecuTorch's MemoryPlanningPass. Each memory.alloc gets its
/// place as arguments, every node as an annotation. It must be the last pass: any later change of the graph
/// invalidates the plan.
struct plan_memory : pass_base<plan_memory> {
    static constexpr std::string_view summary =
        "gives each tensor a place in memory, shared where lifetimes allow";
    planning_options options{};

    result<std::size_t> call(graph& g, pass_context&) const {
        HEADRACE_TRY(plan, make_memory_plan(g, options));
        HEADRACE_TRY(verify_plan(g, plan));
        std::size_t placed = 0;
        record(g, plan, placed);
        record_sizes(g, plan);
        return placed;
    }

private:
    static memory_place place_in(const memory_plan& plan, value v) {
        const planned_tensor* const t = plan.find(v);
        if (t == nullptr) return {};
        return {static_cast<std::int64_t>(t->memory), static_cast<std::int64_t>(t->offset),
            static_cast<std::int64_t>(t->bytes)};
    }
    static void record(graph& g, const memory_plan& plan, std::size_t& placed) {
        for (node* n = g.first(); n != nullptr;) {
            node& current = *n;
            n = n->next;
            std::vector<memory_place> places;
            bool any = false;
            for (std::uint32_t i = 0; i != current.result_count; ++i) {
                places.push_back(place_in(plan, current.result(i)));
                any = any || places.back().memory >= 0;
                const planned_tensor* const t = plan.find(current.result(i));
                placed += t != nullptr && t->tensor == current.result(i);
            }
            for_each_region(current, [&](const field_info&, graph* region) {
                if (region != nullptr) record(*region, plan, placed);
            });
            if (!any) continue;
            node& keeps = is<memory::alloc>(current) ? with_place(current, places[0]) : current;
            g.annotate(keeps, memory_places{g.own(list<memory_place>(places))});
        }
    }
    // Arguments are immutable, so another node replaces it.
    static node& with_place(node& alloc, const memory_place& place) {
        graph& g = *alloc.owner;
        args<memory::alloc> a = args_of<memory::alloc>(alloc);
        a.memory = place.memory;
        a.offset = place.offset;
        node& made = g.create<memory::alloc>(a, &alloc);
        made.results[0] = alloc.results[0];
        g.inherit_annotations(made, alloc);
        g.replace_all_uses(alloc.result(), made.result());
        g.erase(alloc);
        return made;
    }
    static void record_sizes(graph& g, const memory_plan& plan) {
        node* const output = g.output();
        if (output == nullptr) return;
        std::vector<std::int64_t> bytes;
        std::vector<std::int64_t> bounds;
        for (const planned_memory& m : plan.memories) {
            bytes.push_back(static_cast<std::int64_t>(m.bytes));
            bounds.push_back(static_cast<std::int64_t>(m.lower_bound));
        }
        g.annotate(
            *output, memory_sizes{g.own(list<std::int64_t>(bytes)), g.own(list<std::int64_t>(bounds))});
    }
};

}  // namespace headrace

#endif
