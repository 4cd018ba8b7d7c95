// SPDX-License-Identifier: MIT
// Defines how programs that write buffers back are lowered: headrace::expose_states turns the buffers into
// inputs and outputs; headrace::make_variables turns those into TOSA's variables.
#ifndef HEADRACE_LOWERING_STATE_HPP
#define HEADRACE_LOWERING_STATE_HPP

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/dialect/tosa.hpp>
#include <headrace/io/program.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/passes/normalize/functionalize.hpp>
#include <headrace/target/tosa_verify.hpp>

namespace headrace {

/// The treatment of buffers that a program writes.
enum class state_kind : std::uint8_t {
    refused,
    io,       ///< the old value is an input, the new one an output
    variable  ///< TOSA's variables, which the target must support
};

/// A buffer's initial value.
struct initial_state {
    std::string_view name;
    tensor_data data;
    tensor_meta meta;
};

/// A buffer, and the first node that writes to it in place.
struct buffer_write {
    node* buffer;
    node* write;
};

/// Returns the in-place writes of exports that were not decomposed, which do not declare them.
[[nodiscard]] std::vector<buffer_write> buffer_writes(const graph& g);

/// Makes the buffers of buffer_writes mutations of the program, whose next values become outputs.
void declare_writes(program& p);

/// Refuses a buffer or parameter whose next value has another type or shape, which no state can hold.
[[nodiscard]] result<void> check_states(const program& p);

/// Removes the outputs that the program writes to its inputs: TOSA and ExecuTorch's runtime take copies of
/// these, and the other outputs do not depend on them.
void leave_inputs_unwritten(program& p);

namespace detail {

/// A buffer that became an input, and the constant that it was before; null if the program never reads it.
struct buffer_input {
    node* constant = nullptr;
    node* input = nullptr;
};
/// Puts an input of that name in place of the constant, after all inputs that the graph has.
buffer_input replace_buffer(graph& g, std::string_view name);

}  // namespace detail

/// Makes each buffer and parameter that the program writes an input, after the user's inputs; its new value
/// is already among the outputs, after the user's. Inputs and outputs are annotated with the state's name.
/// Returns the initial values of the states.
[[nodiscard]] std::vector<initial_state> expose_states(program& p);

/// Turns the states among the inputs and outputs of a TOSA graph into variables. An error names the first for
/// which that is impossible: the target has no variables, or none of that type.
[[nodiscard]] result<void> make_variables(graph& g, std::span<const initial_state> states);

}  // namespace headrace

#endif
