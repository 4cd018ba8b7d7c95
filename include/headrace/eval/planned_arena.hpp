// SPDX-License-Identifier: MIT
// Defines headrace::planned_arena, the memory of a graph that runs by a memory plan.
#ifndef HEADRACE_EVAL_PLANNED_ARENA_HPP
#define HEADRACE_EVAL_PLANNED_ARENA_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/eval/iterate.hpp>
#include <headrace/eval/tensor.hpp>
#include <headrace/memory/memory_plan.hpp>

namespace headrace::eval {

/// Returns the bytes of a tensor during evaluation, in which a plan to be executed must count.
[[nodiscard]] inline std::uint64_t evaluated_bytes(const tensor_meta& meta) {
    return static_cast<std::uint64_t>(meta.elements()) * element_bytes(meta.dtype);
}

/// Memory of exactly the plan's sizes. Bytes that no live tensor occupies are filled with ones, which are NaN
/// as floats and invalid as indices, so that a tensor read too late or overwritten too early is noticed.
class planned_arena {
public:
    /// Returns an error if kernels cannot use the plan: a tensor is too small or misaligned.
    [[nodiscard]] static result<planned_arena> make(const memory_plan& plan) {
        constexpr std::uint64_t widest = 8;  // bytes of the largest element
        for (const planned_tensor& t : plan.tensors) {
            if (!t.is_placed) continue;
            const std::pmr::string text = "tensor " + headrace::detail::tensor_text(t);
            if (t.bytes < evaluated_bytes(*meta_of(t.tensor)))
                return invalid({text, " is too small for evaluation; plan with eval::evaluated_bytes"});
            if (t.offset % widest != 0 && t.bytes != 0) return invalid({text, " is not aligned to 8 bytes"});
            const std::uint64_t size = plan.memories[t.memory].bytes;
            if (t.offset > size || t.bytes > size - t.offset)
                return invalid({text, " is outside the memory"});
        }
        return planned_arena(plan);
    }

    /// Returns the memory of a result for writing; an empty tensor if the plan has none.
    [[nodiscard]] tensor place(value v, const tensor_meta& meta) {
        const planned_tensor* const planned = plan_->find(v);
        if (planned == nullptr || planned->bytes < evaluated_bytes(meta)) return {};
        return tensor::view(
            meta.dtype, extents(meta.shape.begin(), meta.shape.end()), bytes_of(*planned).data());
    }
    /// True if a value occupies the memory of an earlier one: it is a view, or its op writes to a given
    /// buffer.
    [[nodiscard]] bool is_shared(value v) const {
        const planned_tensor* const planned = plan_->find(v);
        return planned != nullptr && planned->tensor != v;
    }
    /// Moves results to their places. A result without a place is copied, so that it does not refer to memory
    /// that will be overwritten.
    void settle(const node& n, std::vector<tensor>& results) {
        for (std::uint32_t i = 0; i != results.size(); ++i) {
            const value v{const_cast<node*>(&n), i};
            if (results[i].type() == dtype::unknown || is<builtin::constant>(n)) continue;
            const tensor_meta meta{results[i].type(), int_list(results[i].shape()), {}};
            tensor there = place(v, meta);
            if (there.type() == dtype::unknown) {
                results[i] = duplicate(results[i]);
            } else if (there.bytes().data() != results[i].bytes().data()) {
                std::ranges::copy(results[i].bytes(), there.mutable_bytes().begin());
                results[i] = there;
            }
        }
    }
    /// Overwrites tensors that no node after this one needs.
    void finish(const node& n) {
        const auto step = plan_->lifetimes.step_of(n);
        if (!step) return;
        for (const std::size_t i : ends_[*step]) std::ranges::fill(bytes_of(plan_->tensors[i]), unused);
    }

private:
    static constexpr std::byte unused{0xFF};
    using block = std::max_align_t;

    explicit planned_arena(const memory_plan& plan) : plan_(&plan), ends_(plan.lifetimes.step_count()) {
        for (const planned_memory& m : plan.memories) {
            memories_.emplace_back(m.bytes / sizeof(block) + 1);
            std::ranges::fill(std::as_writable_bytes(std::span(memories_.back())), unused);
        }
        for (std::size_t i = 0; i != plan.tensors.size(); ++i) {
            if (plan.tensors[i].is_placed) ends_[plan.tensors[i].last].push_back(i);
        }
    }
    [[nodiscard]] std::span<std::byte> bytes_of(const planned_tensor& t) {
        return std::as_writable_bytes(std::span(memories_[t.memory])).subspan(t.offset, t.bytes);
    }

    const memory_plan* plan_;
    std::vector<std::vector<block>> memories_;
    std::vector<std::vector<std::size_t>> ends_;  // tensors whose last use is at each step
};

}  // namespace headrace::eval

#endif
