// SPDX-License-Identifier: MIT
// Declares the functions that decide which tensors of a graph share quantization parameters because of what
// they are: one value, one state, one part of a recurrent cell.
#ifndef HEADRACE_QUANTIZATION_UNITE_GROUPS_HPP
#define HEADRACE_QUANTIZATION_UNITE_GROUPS_HPP

#include <headrace/ir/graph.hpp>
#include <headrace/quantization/quantization_groups.hpp>

namespace headrace {

/// Unites readers of a value that have equal schemes with each other and with the value's producer.
void unite_readers(const graph& g, quantization_groups& groups);

/// Gives the old and the next value of a state the same parameters: it is then exact between executions.
void unite_states(const graph& g, quantization_groups& groups);

/// Gives the time steps of a recurrent network the same parameters, except the step that starts from the
/// initial state: they then have the same constants, and more samples for each range.
void unite_steps(const graph& g, quantization_groups& groups);

}  // namespace headrace

#endif
