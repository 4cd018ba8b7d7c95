// SPDX-License-Identifier: MIT
// Declares how the delegates that headrace::to_backend returns become those of a .pte file.
#ifndef HEADRACE_LOWERING_PTE_DELEGATES_HPP
#define HEADRACE_LOWERING_PTE_DELEGATES_HPP

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include <headrace/base/result.hpp>
#include <headrace/io/pte/method.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/partition/named_data_store.hpp>
#include <headrace/partition/to_backend.hpp>

namespace headrace {

/// Returns a delegate as the file has it, with its backend's name, bytes and compile specs. Those of "tosa"
/// view their constants in `data`.
[[nodiscard]] result<pte_delegate> stored_delegate(lowered_delegate& d, const named_data_store_output& data);

/// Returns the data that backends other than "tosa" request by key.
[[nodiscard]] named_data_store_output data_of_backends(const lowered_methods& lowered);

/// Annotation of a delegate's call by number: the delegate's graph, until the host's passes find that nothing
/// refers to it.
struct called_program {
    static constexpr bool inherited = false;
    const graph* program;
};

/// Replaces the call of a delegate by one of its number: the delegate's graph is in its bytes, so the host's
/// passes need not see it.
void number_call(node& call, std::size_t number);

/// Graphs of delegates by number.
using delegate_programs = std::map<std::int64_t, std::unique_ptr<graph>>;

/// Returns copies of the delegates' graphs that a host graph calls, right after their calls were numbered.
[[nodiscard]] delegate_programs copy_programs(graph& host);
/// Replaces calls by number by calls of the delegates' graphs, in a copy of a host graph that is executed.
void restore_calls(graph& copy, const delegate_programs& programs);

/// The graph of a method that calls its whole program as one delegate.
struct whole_method {
    std::unique_ptr<graph> host;
    node* call = nullptr;
};

/// Builds the host graph of a program that a backend may take as a whole, before the backend changes it. With
/// n states, the last n outputs are the last n inputs, as pte_method says.
[[nodiscard]] whole_method make_whole_method(graph& program, std::size_t states);

/// Checks that the methods are those that to_backend was given. Programs that became a delegate as a whole
/// are replaced by their host graph, which quantizes and casts where the backend changed a type.
[[nodiscard]] result<void> enter_whole_methods(lowered_methods& lowered,
    const std::map<std::string, graph*, std::less<>>& given,
    const std::map<std::string, whole_method, std::less<>>& wholes);

}  // namespace headrace

#endif
