// SPDX-License-Identifier: MIT
// Includes the algorithms on graphs: order and cycles, dead code. Boost.Graph does the work.
#ifndef HEADRACE_IR_ALGORITHMS_HPP
#define HEADRACE_IR_ALGORITHMS_HPP

#include <headrace/ir/dead_code.hpp>
#include <headrace/ir/topological_order.hpp>

#endif
