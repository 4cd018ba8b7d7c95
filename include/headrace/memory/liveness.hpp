// SPDX-License-Identifier: MIT
// Defines headrace::liveness: which tensors a graph keeps in memory while it runs, and from when to when.
#ifndef HEADRACE_MEMORY_LIVENESS_HPP
#define HEADRACE_MEMORY_LIVENESS_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include <headrace/dialect/builtin.hpp>
#include <headrace/dialect/delegate.hpp>
#include <headrace/dialect/memory.hpp>
#include <headrace/dialect/tosa.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/ir/regions.hpp>
#include <headrace/ir/views.hpp>

namespace headrace {

/// The buffers that a node writes its results into, one for each; empty if it makes its results itself.
[[nodiscard]] inline list<value> out_buffers(const node& n) {
    if (!n.op->has(trait::writes_out)) return {};
    const field_info& last = n.op->fields[n.op->field_count - 1];
    const std::byte* const at = static_cast<const std::byte*>(n.arguments) + last.offset;
    if (last.kind == field_kind::tensor && !last.optional)
        return {reinterpret_cast<const value*>(at), std::size_t{1}};
    if (last.kind == field_kind::tensors) return *reinterpret_cast<const list<value>*>(at);
    return {};
}

/// A tensor that has memory of its own, with the steps of execution at which it is in use. A step is the
/// execution of one node; both bounds count.
struct live_tensor {
    value tensor{};  ///< the value that it was made for; others may be views of it
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    std::uint32_t memory = 0;  ///< 0: the graph's; each delegate computes in one of its own
    bool is_input = false;
    bool is_output = false;
};

/// Lifetimes of all tensors of a graph, in its order of execution, nested graphs included.
///
/// Inputs are there from the beginning, outputs until the end. Constants are not counted: they stay in the
/// file. A view (headrace::is_view) shares the memory of what it shows, and a result of an out-variant
/// shares the memory of its buffer.
///
/// The nodes of a nested graph have steps between the first and the last of the node that holds it. Its
/// inputs are the operands of that node, which therefore live until the last; its outputs are copied into
/// the results, which live from the first, since a loop keeps what it carries there. The nested graphs of a
/// node follow each other, so that only one of them needs memory at a time. A delegate's tensors lie in the
/// memory of its backend.
class liveness {
public:
    explicit liveness(const graph& g) {
        memories_.push_back(&g);
        analyze(g, 0);
    }

    [[nodiscard]] std::span<const live_tensor> tensors() const { return tensors_; }
    /// The graph of each memory: that of memory 0 is the whole graph, then come those of delegates.
    [[nodiscard]] std::span<const graph* const> memories() const { return memories_; }
    /// Steps are numbered from 0, at which inputs are given, and are below this.
    [[nodiscard]] std::uint32_t step_count() const { return step_ + 1; }

    /// The position in `tensors()` of the tensor that holds a value; nothing for constants, for inputs of
    /// nested graphs, and for views of those.
    [[nodiscard]] std::optional<std::size_t> tensor_of(value v) const {
        const auto known = positions_.find(v.producer);
        if (known == positions_.end() || v.result >= known->second.size()) return std::nullopt;
        const std::size_t position = known->second[v.result];
        return position == none ? std::nullopt : std::optional(position);
    }
    [[nodiscard]] const live_tensor* find(value v) const {
        const auto position = tensor_of(v);
        return position ? &tensors_[*position] : nullptr;
    }
    /// The last step of a node: where its results are there. Nothing for nodes that are not executed.
    [[nodiscard]] std::optional<std::uint32_t> step_of(const node& n) const {
        const auto known = steps_.find(&n);
        return known == steps_.end() ? std::nullopt : std::optional(known->second);
    }

private:
    static constexpr std::size_t none = static_cast<std::size_t>(-1);

    void analyze(const graph& g, std::uint32_t memory) {
        const bool nested = step_ != 0;
        if (!nested) {
            for (const node& n : g.inputs()) {
                for (std::uint32_t i = 0; i != n.result_count; ++i) add(n, i, 0, memory).is_input = true;
            }
        }
        for (const node& n : g.nodes()) {
            if (is<builtin::placeholder>(n) || is_known_before(n)) continue;
            if (is<memory::alloc>(n)) {
                add(n, 0, step_ + 1, memory);
            } else {
                execute(n, memory);
            }
        }
        if (nested || g.output() == nullptr) return;
        for (const value v : g.outputs()) {
            if (const auto position = tensor_of(v)) tensors_[*position].is_output = true;
        }
    }

    // Constants, and the shapes that TOSA's ops take.
    [[nodiscard]] static bool is_known_before(const node& n) {
        if (is<builtin::constant>(n) || is<tosa::const_>(n)) return true;
        const auto is_shape = [](const result_slot& r) { return r.meta && r.meta->dtype == dtype::shape; };
        return n.result_count != 0 && std::all_of(n.results, n.results + n.result_count, is_shape);
    }

    void execute(const node& n, std::uint32_t memory) {
        const std::uint32_t begin = ++step_;
        if (const auto buffers = out_buffers(n); !buffers.empty()) {
            for (std::uint32_t i = 0; i != n.result_count && i < buffers.size(); ++i)
                share(n, i, tensor_of(buffers[i]));
        } else if (is_view(n)) {
            share(n, 0, tensor_of(n.operand(0)));
        } else {
            for (std::uint32_t i = 0; i != n.result_count; ++i) {
                if (n.results[i].meta || use_count({const_cast<node*>(&n), i}) != 0) add(n, i, begin, memory);
            }
        }
        const std::size_t outer_uses = captured_.size();
        for_each_region(n, [&](const field_info&, const graph* region) {
            if (region != nullptr) enter(*region, memory, is<delegate::call_delegate>(n));
        });
        if (step_ != begin) ++step_;  // when the nested graphs are done
        steps_[&n] = step_;
        for (const edge& e : n.operand_edges()) use(*e.slot, n);
        for (std::uint32_t i = 0; i != n.result_count; ++i) touch(tensor_of({const_cast<node*>(&n), i}));
        // A nested graph may run again: what it takes from outside must outlive the node that holds it.
        for (std::size_t i = outer_uses; i != captured_.size(); ++i) touch(tensor_of(captured_[i]));
        const auto is_own = [&](value v) { return v.producer->owner == n.owner; };
        captured_.erase(std::remove_if(captured_.begin() + static_cast<std::ptrdiff_t>(outer_uses),
                                       captured_.end(), is_own),
                        captured_.end());
    }

    void enter(const graph& region, std::uint32_t memory, bool is_delegate) {
        const auto [known, is_new] = regions_.try_emplace(&region, tensors_.size(), std::size_t{0});
        if (!is_new) {  // another node holds it as well: its tensors keep their places until then
            ++step_;
            for (std::size_t i = known->second.first; i != known->second.second; ++i) touch(i);
            return;
        }
        if (is_delegate) {
            memory = static_cast<std::uint32_t>(memories_.size());
            memories_.push_back(&region);
        }
        analyze(region, memory);
        regions_[&region].second = tensors_.size();
    }

    void use(value v, const node& by) {
        touch(tensor_of(v));
        if (v.producer->owner != by.owner) captured_.push_back(v);
    }
    void touch(std::optional<std::size_t> position) {
        if (position) tensors_[*position].last = std::max(tensors_[*position].last, step_);
    }
    live_tensor& add(const node& n, std::uint32_t result, std::uint32_t first, std::uint32_t memory) {
        set(n, result, tensors_.size());
        tensors_.push_back(
            {.tensor = {const_cast<node*>(&n), result}, .first = first, .last = first, .memory = memory});
        return tensors_.back();
    }
    void share(const node& n, std::uint32_t result, std::optional<std::size_t> with) {
        set(n, result, with.value_or(none));
    }
    void set(const node& n, std::uint32_t result, std::size_t position) {
        auto& of_node = positions_[&n];
        if (of_node.empty()) of_node.assign(n.result_count, none);
        of_node[result] = position;
    }

    std::pmr::vector<live_tensor> tensors_;
    std::pmr::vector<const graph*> memories_;
    std::pmr::unordered_map<const node*, std::pmr::vector<std::size_t>> positions_;  // in tensors_, by result
    std::pmr::unordered_map<const node*, std::uint32_t> steps_;
    std::pmr::unordered_map<const graph*, std::pair<std::size_t, std::size_t>> regions_;  // their tensors
    std::pmr::vector<value> captured_;  // what nested graphs use of graphs around them
    std::uint32_t step_ = 0;
};

}  // namespace headrace

#endif
