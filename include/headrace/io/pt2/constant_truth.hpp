// SPDX-License-Identifier: MIT
// Defines headrace::constant_truth, which readers use to compute masks.
#ifndef HEADRACE_IO_PT2_CONSTANT_TRUTH_HPP
#define HEADRACE_IO_PT2_CONSTANT_TRUTH_HPP

#include <optional>
#include <vector>

#include <headrace/ir/graph.hpp>

namespace headrace {

/// Returns for each element of a value, in row-major order, whether it is nonzero; nullopt if the value is
/// not a constant. The number of elements that a mask selects determines the shape of the result, so readers
/// must know it. Readers do not evaluate by themselves: evaluation is linked where models are loaded.
using constant_truth = std::optional<std::vector<bool>> (*)(value v);

}  // namespace headrace

#endif
