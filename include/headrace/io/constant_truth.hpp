// SPDX-License-Identifier: MIT
// Defines headrace::constant_truth, with which readers compute masks.
#ifndef HEADRACE_IO_CONSTANT_TRUTH_HPP
#define HEADRACE_IO_CONSTANT_TRUTH_HPP

#include <optional>
#include <vector>

#include <headrace/ir/graph.hpp>

namespace headrace {

/// Tells for each element of a value, row by row, if it is other than 0; nothing if the value is no constant.
/// How many elements a mask selects decides on the shape of what it selects, so that readers must know it.
/// They do not compute by themselves: evaluation is linked where models are loaded.
using constant_truth = std::optional<std::vector<bool>> (*)(value v);

}  // namespace headrace

#endif
