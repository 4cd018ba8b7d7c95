// SPDX-License-Identifier: MIT
// Defines headrace::liveness: which tensors a graph keeps in memory while it runs, and from when to when.
#ifndef HEADRACE_MEMORY_LIVENESS_HPP
#define HEADRACE_MEMORY_LIVENESS_HPP

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/dialect/builtin.hpp>
#include <headrace/dialect/delegate.hpp>
#include <headrace/dialect/memory.hpp>
#include <headrace/dialect/tosa.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/ir/regions.hpp>
#include <headrace/ir/views.hpp>

namespace headrace {

/// The buffers that a node writes its results into, one for each; empty if it makes its results itself.
[[nodiscard]] list<value> out_buffers(const node& n);

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
    explicit liveness(const graph& g);

    [[nodiscard]] std::span<const live_tensor> tensors() const { return tensors_; }
    /// The graph of each memory: that of memory 0 is the whole graph, then come those of delegates.
    [[nodiscard]] std::span<const graph* const> memories() const { return memories_; }
    /// Steps are numbered from 0, at which inputs are given, and are below this.
    [[nodiscard]] std::uint32_t step_count() const { return step_ + 1; }

    /// The position in `tensors()` of the tensor that holds a value; nothing for constants, for inputs of
    /// nested graphs, and for views of those.
    [[nodiscard]] std::optional<std::size_t> tensor_of(value v) const;
    [[nodiscard]] const live_tensor* find(value v) const;
    /// The last step of a node: where its results are there. Nothing for nodes that are not executed.
    [[nodiscard]] std::optional<std::uint32_t> step_of(const node& n) const;

private:
    static constexpr std::size_t none = static_cast<std::size_t>(-1);

    void analyze(const graph& g, std::uint32_t memory);

    // Constants, and the shapes that TOSA's ops take.
    [[nodiscard]] static bool is_known_before(const node& n);

    void execute(const node& n, std::uint32_t memory);

    void enter(const graph& region, std::uint32_t memory, bool is_delegate);

    void use(value v, const node& by);
    void touch(std::optional<std::size_t> position);
    live_tensor& add(const node& n, std::uint32_t result, std::uint32_t first, std::uint32_t memory);
    void share(const node& n, std::uint32_t result, std::optional<std::size_t> with);
    void set(const node& n, std::uint32_t result, std::size_t position);

    pmr_vector<live_tensor> tensors_;
    pmr_vector<const graph*> memories_;
    std::pmr::unordered_map<const node*, pmr_vector<std::size_t>> positions_;  // in tensors_, by result
    std::pmr::unordered_map<const node*, std::uint32_t> steps_;
    std::pmr::unordered_map<const graph*, std::pair<std::size_t, std::size_t>> regions_;  // their tensors
    pmr_vector<value> captured_;  // what nested graphs use of graphs around them
    std::uint32_t step_ = 0;
};

}  // namespace headrace

#ifndef HEADRACE_COMPILED
#include <headrace/memory/liveness_definition.hpp>
#endif

#endif
