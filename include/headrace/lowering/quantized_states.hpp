// SPDX-License-Identifier: MIT
// Declares headrace::quantized_states, which lets buffers that a program writes be quantized as activations.
#ifndef HEADRACE_LOWERING_QUANTIZED_STATES_HPP
#define HEADRACE_LOWERING_QUANTIZED_STATES_HPP

#include <cstddef>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/io/program.hpp>
#include <headrace/quantization/observers/observe.hpp>

namespace headrace {

/// The states of a program during its quantization: the buffers and parameters that it reads and writes,
/// also in place. Each is an input in that time, so that its values are observed and quantized where they are
/// read, and the state itself stays as it is; the old and the next value share their parameters.
class quantized_states {
public:
    /// Turns the states into inputs, after the user's. The program must outlive this.
    explicit quantized_states(program& p);

    [[nodiscard]] bool empty() const { return states_.empty(); }

    /// Returns the samples of all inputs: the states' values are those that the program, executed on the
    /// user's samples in order, starts with. An error is that of an execution.
    [[nodiscard]] result<sample_source> samples(const sample_source& users) const;

    /// Turns the inputs into buffers again.
    void restore();

private:
    struct state {
        std::size_t position;  // of the next value among the outputs
        node* input;
        annotation* annotations;  // of the constant, as are the members below
        tensor_data data;
    };

    program& program_;
    std::vector<state> states_;
};

}  // namespace headrace

#endif
