// SPDX-License-Identifier: MIT
// Defines how a graph of ExecuTorch's kernels becomes a method of a .pte file.
#ifndef HEADRACE_IO_PTE_WRITING_METHOD_WRITER_HPP
#define HEADRACE_IO_PTE_WRITING_METHOD_WRITER_HPP

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/dialect/executorch.hpp>
#include <headrace/dialect/higher_order.hpp>
#include <headrace/infer/inference.hpp>
#include <headrace/io/pte/method.hpp>
#include <headrace/io/pte/writing/bank_places.hpp>
#include <headrace/io/pte/writing/delegates.hpp>
#include <headrace/io/pte/writing/instructions.hpp>
#include <headrace/io/pte/writing/values.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/memory/memory_plan.hpp>

namespace headrace::pte {

/// Writes one method. Inputs, outputs, intermediate tensors and the buffers of kernels share one planned
/// memory, or one for each bank of a board; a reshape is a second tensor at the same offset. No instruction
/// makes a buffer.
class method_writer {
public:
    using index = value_table::index;

    method_writer(flatbuffers::FlatBufferBuilder& builder, file_pools& pools, const pte_method& method);

    result<flatbuffers::Offset<pte_fb::Method>> write(std::string_view name, pte_method_size& size);

private:
    // States are planned like inputs, and have initial values besides.
    result<std::vector<index>> write_inputs();
    // Writes a state's next value.
    result<void> keep(value next, value state);

    flatbuffers::Offset<pte_fb::Method> finish(std::string_view name, const std::vector<index>& inputs,
        const std::vector<index>& outputs, std::span<const std::uint64_t> planned);

    // --- tensors -----------------------------------------------------------------------

    // Returns the value whose memory `v` uses: a reshape uses that of its operand, and an input of a nested
    // graph is the value that the enclosing node passes.
    [[nodiscard]] value origin_of(value v) const;

    result<index> tensor_of(value v);
    // --- instructions ------------------------------------------------------------------

    result<void> call(const node& n);

    // --- control flow ------------------------------------------------------------------

    result<void> branch(const node& n, const args<higher_order::cond>& a);
    result<void> choose(const node& n, const graph& region, const list<value>& operands);

    // The results hold the carried values throughout. No output of the body is one of the carried values that
    // it takes, except the one at its own position.
    result<void> repeat(const node& n, const args<higher_order::while_loop>& a);

    // Writes the instructions of a nested graph, given its inputs.
    template <class Values>
    result<void> enter(const graph& region, const Values& inputs);
    result<void> copy(value from, value to);

    // --- calls -------------------------------------------------------------------------

    // The arguments are the backend's inputs, then its outputs.
    result<void> call_delegate(const node& n, const args<executorch::call_delegate>& a);

    // Adds the tensors that the kernel writes, and then its return value: the same tensors again, several as
    // a list.
    result<void> add_results(const node& n, std::vector<index>& arguments);

    flatbuffers::FlatBufferBuilder& builder_;
    file_pools& pools_;
    const pte_method& method_;
    const graph& graph_;
    const memory_plan* plan_ = nullptr;
    std::optional<bank_places> banks_{};  // if the board has several
    value_table values_;
    std::vector<std::uint32_t> segments_;  // of the delegates
    std::map<std::pair<const node*, std::uint32_t>, index> tensors_;
    std::unordered_map<const node*, std::uint32_t> initial_;  // of states
    instruction_list instructions_;
    std::map<std::pair<const node*, std::uint32_t>, value> bound_;  // inputs of nested graphs
};

}  // namespace headrace::pte

#endif
