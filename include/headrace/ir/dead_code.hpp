// SPDX-License-Identifier: MIT
// Defines headrace::eliminate_dead_code.
#ifndef HEADRACE_IR_DEAD_CODE_HPP
#define HEADRACE_IR_DEAD_CODE_HPP

#include <cstddef>

#include <headrace/ir/graph.hpp>

namespace headrace {

namespace detail {

/// Erases all nodes, including those of regions, and returns how many.
std::size_t erase_all(graph& g);

}  // namespace detail

/// Removes the nodes that neither an output nor an effect needs, and returns how many. Placeholders stay:
/// they are the program's signature. Regions are cleaned, too; a region is emptied once no node holds it, so
/// that the census does not count its ops as present. A graph without an output node is left unchanged.
std::size_t eliminate_dead_code(graph& g);

}  // namespace headrace

#ifndef HEADRACE_COMPILED
#include <headrace/ir/dead_code_definition.hpp>
#endif

#endif
