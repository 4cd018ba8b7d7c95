// SPDX-License-Identifier: MIT
// Defines headrace::liveness, the lifetimes of the tensors that a graph keeps in memory while it runs.
#ifndef HEADRACE_MEMORY_LIVENESS_HPP
#define HEADRACE_MEMORY_LIVENESS_HPP

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>

#include <headrace/base/flat_map.hpp>
#include <headrace/base/pmr_vector.hpp>
#include <headrace/dialect/builtin.hpp>
#include <headrace/dialect/delegate.hpp>
#include <headrace/dialect/memory.hpp>
#include <headrace/dialect/tosa.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/ir/regions.hpp>
#include <headrace/ir/views.hpp>

namespace headrace {

/// Returns the buffers that a node writes its results into, one for each; empty if it has none.
[[nodiscard]] list<value> out_buffers(const node& n);

/// A tensor with memory of its own, and its lifetime in steps. A step is the execution of one node; both
/// bounds are inclusive.
struct live_tensor {
    value tensor{};  ///< the value that it was made for; others may be views of it
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    std::uint32_t memory = 0;  ///< 0: the graph's; each delegate has its own
    bool is_input = false;
    bool is_output = false;
};

/// The lifetimes of all tensors of a graph, in execution order, including nested graphs.
///
/// Inputs live from the beginning, outputs until the end. Constants are not counted: they stay in the file. A
/// view (headrace::is_view) shares the memory of its operand; a result of an out-variant shares the memory of
/// its buffer. A buffer (memory.alloc) lives from its first user on, since nothing is in it before.
///
/// The nodes of a nested graph have steps between the first and the last step of the node that holds it. The
/// inputs of a nested graph are the operands of that node, which therefore live until its last step. Its
/// outputs are copied into the results, which live from the first step, because a loop keeps its carried
/// values there. The nested graphs of a node run one after the other, so only one of them needs memory at a
/// time. A delegate's tensors are in the memory of its backend.
class liveness {
public:
    explicit liveness(const graph& g);

    /// True for nodes that are not executed because their results are known before: constants, and the shape
    /// operands of TOSA's ops.
    [[nodiscard]] static bool is_known_before(const node& n);

    [[nodiscard]] std::span<const live_tensor> tensors() const { return tensors_; }
    /// Returns the graph of each memory: memory 0 is for the whole graph, the others are for delegates.
    [[nodiscard]] std::span<const graph* const> memories() const { return memories_; }
    /// Returns the number of steps; step 0 is when inputs are given.
    [[nodiscard]] std::uint32_t step_count() const { return step_ + 1; }

    /// Returns the index in `tensors()` of the tensor that holds a value; nothing for constants, for inputs
    /// of nested graphs, and for views of these.
    [[nodiscard]] std::optional<std::size_t> tensor_of(value v) const;
    [[nodiscard]] const live_tensor* find(value v) const;
    /// Returns the last step of a node, when its results are complete; nothing if it is not executed.
    [[nodiscard]] std::optional<std::uint32_t> step_of(const node& n) const;

private:
    static constexpr std::uint32_t none = static_cast<std::uint32_t>(-1);
    struct node_record {
        const node* of = nullptr;
        std::uint32_t first_held = none;  // in held_
        std::uint32_t step = none;        // the last one

        explicit operator bool() const { return of != nullptr; }
    };

    void analyze(const graph& g, std::uint32_t memory);

    // True if only nodes of its graph use a buffer, which then lives from the first of them.
    [[nodiscard]] static bool is_used_here(const node& n);
    void execute(const node& n, std::uint32_t memory);

    void enter(const graph& region, std::uint32_t memory, bool is_delegate);

    void use(value v, const node& by);
    void touch(std::optional<std::size_t> position);
    live_tensor& add(const node& n, std::uint32_t result, std::uint32_t first, std::uint32_t memory);
    void share(const node& n, std::uint32_t result, std::optional<std::size_t> with);
    void set(const node& n, std::uint32_t result, std::uint32_t position);
    [[nodiscard]] const node_record* find_record(const node* n) const;
    [[nodiscard]] node_record& record_of(const node& n);

    pmr_vector<live_tensor> tensors_;
    pmr_vector<const graph*> memories_;
    flat_map<node_record> nodes_;
    pmr_vector<std::uint32_t> held_;  // indices in tensors_, by result, or none
    std::pmr::unordered_map<const graph*, std::pair<std::size_t, std::size_t>> regions_;  // their tensors
    pmr_vector<value> captured_;  // values of outer graphs that nested graphs use
    std::uint32_t step_ = 0;
};

}  // namespace headrace

#ifndef HEADRACE_COMPILED
#include <headrace/memory/liveness_definition.hpp>
#endif

#endif
