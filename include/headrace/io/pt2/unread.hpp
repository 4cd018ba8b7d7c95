// SPDX-License-Identifier: MIT
// Declares the last steps of reading an exported graph, for nodes that depend on numbers of the running
// program.
#ifndef HEADRACE_IO_PT2_UNREAD_HPP
#define HEADRACE_IO_PT2_UNREAD_HPP

#include <string_view>

#include <headrace/ir/graph.hpp>

namespace headrace::pt2 {

inline constexpr std::string_view number_reason =
    "it makes a Python number of a tensor, which is known only when the program runs; compute with the "
    "tensor instead of with the number";

/// True if an operand is the result of a node that could not be read.
[[nodiscard]] bool takes_unread(const node& n);

/// True if a node writes into the result of `n`, directly or through views of it.
[[nodiscard]] bool is_written(const node& n);

/// Makes selections unread that are written in place: select(x, 0, item(i)) is a view, but index.Tensor(x,
/// [i]) is a copy, in which a write to the view would be lost.
void refuse_written_selections(graph& g);

/// Erases numbers of the running program that nothing reads, and the nodes that were made only for them.
void erase_unused_numbers(graph& g);

}  // namespace headrace::pt2

#endif
