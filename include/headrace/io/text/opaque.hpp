// SPDX-License-Identifier: MIT
// Declares headrace::resolve_opaque, which turns nodes of unknown ops into nodes of a dialect that knows
// them.
#ifndef HEADRACE_IO_TEXT_OPAQUE_HPP
#define HEADRACE_IO_TEXT_OPAQUE_HPP

#include <headrace/base/result.hpp>
#include <headrace/io/text/sources.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace {

/// Replaces each builtin::opaque whose target `find` knows with a node of that op: arguments are matched by
/// the op's names and order; metadata, names and annotations stay. Nested graphs are entered. An error names
/// the node if an argument is of another kind, or if the op has no argument of its name.
///
///     auto program = headrace::read_pt2("model.pt2");
///     resolve_opaque(*program.value().graph, &headrace::find_op<my::dialect>);
[[nodiscard]] result<void> resolve_opaque(graph& g, op_finder find);

}  // namespace headrace

#endif
