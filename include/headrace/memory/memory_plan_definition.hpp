// SPDX-License-Identifier: MIT
// Defines the functions of memory/memory_plan.hpp.
#ifndef HEADRACE_MEMORY_MEMORY_PLAN_DEFINITION_HPP
#define HEADRACE_MEMORY_MEMORY_PLAN_DEFINITION_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <string>
#include <utility>

#include <headrace/base/compiled.hpp>
#include <headrace/base/pmr_vector.hpp>
#include <headrace/base/result.hpp>
#include <headrace/base/text.hpp>
#include <headrace/infer/inference.hpp>
#include <headrace/ir/meta_text.hpp>
#include <headrace/memory/block_packer.hpp>
#include <headrace/memory/liveness.hpp>

namespace headrace {

namespace detail {

HEADRACE_INLINE std::pmr::string tensor_text(const planned_tensor& t) {
    const node& n = *t.tensor.producer;
    std::pmr::string name(n.results[t.tensor.result].name);
    if (name.empty()) name = text_of({"result ", t.tensor.result, " of node ", n.id});
    return text_of({"'", name, "' of ", n.op->name, " at bytes ", t.offset, " to ", t.offset + t.bytes,
        ", steps ", t.first, " to ", t.last});
}

/// Computes the sizes of all tensors.
[[nodiscard]] inline result<pmr_vector<planned_tensor>> measure(
    const liveness& lifetimes, const planning_options& options) {
    constexpr std::int64_t max_elements = std::int64_t{1} << 48;
    pmr_vector<planned_tensor> tensors;
    for (const live_tensor& live : lifetimes.tensors()) {
        const node& n = *live.tensor.producer;
        const tensor_meta* const meta = meta_of(live.tensor);
        if (meta == nullptr || meta->dtype == dtype::unknown)
            return invalid(
                {message_prefix(n), "a tensor of unknown type has no size; infer its metadata first"});
        if (meta->checked_elements().value_or(max_elements) >= max_elements)
            return unsupported({message_prefix(n), "the tensor is too large: ", meta_text(*meta)});
        const bool is_placed =
            (options.place_inputs || !live.is_input) && (options.place_outputs || !live.is_output);
        tensors.push_back({live, options.bytes_of(*meta), 0, is_placed});
    }
    return tensors;
}

// Computes the largest sum of live bytes of all steps, and the first step that has it.
inline void measure_bound(
    std::span<const planned_tensor> tensors, std::uint32_t memory, std::uint32_t steps, planned_memory& m) {
    pmr_vector<std::uint64_t> live(steps + std::size_t{1});
    for (const planned_tensor& t : tensors) {
        if (t.memory != memory || !t.is_placed) continue;
        live[t.first] += t.bytes;
        live[t.last + std::size_t{1}] -= t.bytes;
    }
    std::partial_sum(live.begin(), live.end(), live.begin());
    const auto fullest = std::max_element(live.begin(), live.end());
    m.lower_bound = *fullest;
    m.fullest_step = static_cast<std::uint32_t>(fullest - live.begin());
}

}  // namespace detail

HEADRACE_INLINE result<memory_plan> make_memory_plan(const graph& g, const planning_options& options) {
    const std::uint64_t alignment = options.alignment;
    if (alignment == 0 || (alignment & (alignment - 1)) != 0)
        return invalid({"the alignment of tensors must be a power of two, not ", alignment});
    memory_plan plan{.options = options, .lifetimes = liveness(g)};
    HEADRACE_TRY(measured, detail::measure(plan.lifetimes, options));
    plan.tensors = std::move(measured);
    for (const graph* owner : plan.lifetimes.memories()) {
        const auto memory = static_cast<std::uint32_t>(plan.memories.size());
        planned_memory m{.owner = owner};
        pmr_vector<detail::memory_block> blocks;
        pmr_vector<planned_tensor*> placed;
        for (planned_tensor& t : plan.tensors) {
            if (t.memory != memory || !t.is_placed) continue;
            blocks.push_back({(t.bytes + alignment - 1) & ~(alignment - 1), t.first, t.last});
            placed.push_back(&t);
        }
        if (!blocks.empty()) {
            const auto offsets = detail::block_packer(std::move(blocks), options.algorithm).pack();
            for (std::size_t i = 0; i != placed.size(); ++i) {
                placed[i]->offset = offsets[i];
                m.bytes = std::max(m.bytes, offsets[i] + placed[i]->bytes);
            }
        }
        detail::measure_bound(plan.tensors, memory, plan.lifetimes.step_count(), m);
        plan.memories.push_back(m);
    }
    return plan;
}

HEADRACE_INLINE result<void> verify_plan(const graph& g, const memory_plan& plan) {
    const liveness now(g);
    if (now.tensors().size() != plan.tensors.size())
        return invalid({"the graph has ", now.tensors().size(), " tensors, the plan ", plan.tensors.size()});
    pmr_vector<const planned_tensor*> by_start;
    for (std::size_t i = 0; i != plan.tensors.size(); ++i) {
        const planned_tensor& t = plan.tensors[i];
        const live_tensor& live = now.tensors()[i];
        if (t.tensor != live.tensor || t.first != live.first || t.last != live.last ||
            t.memory != live.memory)
            return invalid(
                {"the graph has changed since it was planned, at tensor ", detail::tensor_text(t)});
        const tensor_meta* const meta = meta_of(t.tensor);
        if (meta == nullptr || plan.options.bytes_of(*meta) != t.bytes)
            return invalid({"the plan has another size for tensor ", detail::tensor_text(t)});
        if (!t.is_placed || t.bytes == 0) continue;
        if (t.offset % plan.options.alignment != 0)
            return invalid({"the plan does not align tensor ", detail::tensor_text(t)});
        if (t.memory >= plan.memories.size() || t.offset > plan.memories[t.memory].bytes ||
            t.bytes > plan.memories[t.memory].bytes - t.offset)
            return invalid({"the plan's memory does not hold tensor ", detail::tensor_text(t)});
        by_start.push_back(&t);
    }
    std::stable_sort(
        by_start.begin(), by_start.end(), [](const auto* a, const auto* b) { return a->first < b->first; });
    pmr_vector<const planned_tensor*> active;
    for (const planned_tensor* t : by_start) {
        erase_if(active, [&](const planned_tensor* other) { return other->last < t->first; });
        for (const planned_tensor* other : active) {
            const bool overlap = t->memory == other->memory && t->offset < other->offset + other->bytes &&
                other->offset < t->offset + t->bytes;
            if (overlap)
                return invalid({"two tensors that live at the same time overlap: ",
                    detail::tensor_text(*other), ", and ", detail::tensor_text(*t)});
        }
        active.push_back(t);
    }
    return {};
}

}  // namespace headrace

#endif
