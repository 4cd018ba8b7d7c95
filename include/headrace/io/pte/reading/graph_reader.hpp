// SPDX-License-Identifier: MIT
// Defines how the instructions of a method in a .pte file become the nodes of a graph.
#ifndef HEADRACE_IO_PTE_READING_GRAPH_READER_HPP
#define HEADRACE_IO_PTE_READING_GRAPH_READER_HPP

#include <cstdint>
#include <string>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/io/pte/reading/method_source.hpp>
#include <headrace/io/pte/reading/tensors.hpp>

namespace headrace::pte {

/// Reads instructions into one graph.
class graph_reader {
public:
    using indices_type = flatbuffers::Vector<std::int32_t>;

    graph_reader(method_source& method, graph& g) : method_(method), graph_(g), tensors_(method, g) {}

    [[nodiscard]] method_source& method() { return method_; }
    [[nodiscard]] graph& target() { return graph_; }
    [[nodiscard]] tensor_source& tensors() { return tensors_; }

    result<void> add_input(std::int32_t index);

    /// Adds an instruction; errors name it.
    result<void> add_instruction(std::uint32_t number, const pte_fb::Instruction& i);
    result<void> add_output(std::int32_t index, std::vector<value>& outputs);

private:
    result<void> add(const pte_fb::Instruction& i);

    // The state holds the copied value from then on.
    result<void> add_copy(const indices_type& indices);
    // --- delegates ---------------------------------------------------------------------

    result<void> add_delegate_call(const pte_fb::DelegateCall& call);
    result<void> read_delegate(const pte_fb::Delegate& d, graph& region);
    // Only the backend knows which arguments it reads and writes; those not yet written are its results.
    result<void> add_foreign(const std::string& id, const indices_type& indices);

    // --- kernels -----------------------------------------------------------------------

    // The arguments are the schema's, in order; then the tensors that are written; then these again.
    result<void> add_kernel(const called_operator& o, const indices_type& indices);
    // Arguments are part of a node: they cannot be numbers that other nodes compute.
    result<void> refuse_computed(const field_info& f, std::int64_t index);
    // Finds the tensors at these arguments; the items of lists one by one.
    result<void> written_by(const indices_type& indices, flatbuffers::uoffset_t from,
        flatbuffers::uoffset_t to, std::vector<std::int64_t>& found);
    // The last argument names the results; all others are operands and arguments.
    result<void> add_opaque(const called_operator& o, const indices_type& indices);
    result<void> add_node(const op_info& op, const void* arguments, const std::vector<std::int64_t>& results);

    method_source& method_;
    graph& graph_;
    tensor_source tensors_;
};

}  // namespace headrace::pte

#endif
