// SPDX-License-Identifier: MIT
// Declares headrace::add_graph_items, the memory that a graph needs, tensor by tensor.
#ifndef HEADRACE_BANKS_GRAPH_ITEMS_HPP
#define HEADRACE_BANKS_GRAPH_ITEMS_HPP

#include <string_view>
#include <vector>

#include <headrace/banks/bank_plan.hpp>
#include <headrace/base/result.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace {

/// Adds a model: its tensors with their lifetimes, its constants and its states. Returns the value of each
/// added item; those of variables have none. A delegate's tensors are not counted: its backend keeps them.
///
/// Accesses are those of a kernel without a cache: a convolution or a matrix product reads an element of its
/// input and one of its weights for each multiply-accumulate; any other op reads each operand once. Results
/// are written once. A loop's body counts once, since its number of turns is unknown.
[[nodiscard]] result<std::vector<value>> add_graph_items(
    banked_models& models, std::string_view name, const graph& g);

}  // namespace headrace

#endif
