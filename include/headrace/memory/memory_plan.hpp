// SPDX-License-Identifier: MIT
// Defines headrace::memory_plan, the memory offset of each tensor of a graph, headrace::make_memory_plan and
// headrace::verify_plan.
#ifndef HEADRACE_MEMORY_MEMORY_PLAN_HPP
#define HEADRACE_MEMORY_MEMORY_PLAN_HPP

#include <cstdint>
#include <memory_resource>
#include <string>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/base/result.hpp>
#include <headrace/base/text.hpp>
#include <headrace/ir/meta_text.hpp>
#include <headrace/memory/liveness.hpp>
#include <headrace/memory/planning_algorithm.hpp>

namespace headrace {

struct planning_options {
    planning_algorithm algorithm = planning_algorithm::greedy;
    std::uint64_t alignment = 16;  ///< of each tensor, a power of two
    bool place_inputs = true;      ///< if false, the caller provides the memory of the graph's inputs
    bool place_outputs = true;     ///< if false, the caller provides that of its outputs
    std::uint64_t (*bytes_of)(const tensor_meta& meta) = &packed_bytes;
};

struct planned_tensor : live_tensor {
    std::uint64_t bytes = 0;
    std::uint64_t offset = 0;
    bool is_placed = true;  ///< false for inputs and outputs that the caller provides
};

struct planned_memory {
    const graph* owner = nullptr;   ///< the whole graph, or a delegate's
    std::uint64_t bytes = 0;        ///< the peak: the highest end of a tensor
    std::uint64_t lower_bound = 0;  ///< the largest sum of tensors that are live at one step
    std::uint32_t fullest_step = 0;
};

/// An offset for each tensor, such that tensors share bytes only if their lifetimes do not overlap.
struct memory_plan {
    planning_options options{};
    liveness lifetimes;
    pmr_vector<planned_tensor> tensors{};  ///< parallel to `lifetimes.tensors()`
    pmr_vector<planned_memory> memories{};

    /// Returns the tensor that holds a value, or null if the plan has no memory for it.
    [[nodiscard]] const planned_tensor* find(value v) const {
        const auto position = lifetimes.tensor_of(v);
        return position && tensors[*position].is_placed ? &tensors[*position] : nullptr;
    }
};

namespace detail {

/// Returns a tensor and its place in memory, for messages.
[[nodiscard]] std::pmr::string tensor_text(const planned_tensor& t);

}  // namespace detail

/// Plans memory for every tensor that is not a constant. Fails if the type of a tensor is unknown.
[[nodiscard]] result<memory_plan> make_memory_plan(const graph& g, const planning_options& options = {});

/// Checks the plan against the current graph; lifetimes are computed again. The error names the misplaced
/// tensor, or the two that overlap.
[[nodiscard]] result<void> verify_plan(const graph& g, const memory_plan& plan);

}  // namespace headrace

#ifndef HEADRACE_COMPILED
#include <headrace/memory/memory_plan_definition.hpp>
#endif

#endif
