// SPDX-License-Identifier: MIT
// Declares headrace::write_dot, which writes a graph for Graphviz. Not in the umbrella header: it is slow to
// compile, and Boost.Graph's Graphviz writer needs RTTI and exceptions.
#ifndef HEADRACE_IO_TEXT_DOT_HPP
#define HEADRACE_IO_TEXT_DOT_HPP

#include <ostream>

#include <headrace/ir/graph.hpp>

namespace headrace {

/// Writes the graph in Graphviz's language. A node is coloured by its dialect and labelled with its op, the
/// arguments that are not the op's defaults, the constants that it uses, and its values. Edges carry the name
/// of the operand. Modules of the model and regions are clusters.
void write_dot(std::ostream& out, const graph& g);

}  // namespace headrace

#endif
