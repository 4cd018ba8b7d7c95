// SPDX-License-Identifier: MIT
// Declares headrace::is_passed_over, which tells that a number never is part of a result.
#ifndef HEADRACE_QUANTIZATION_MASKS_PICKED_EXTREMES_HPP
#define HEADRACE_QUANTIZATION_MASKS_PICKED_EXTREMES_HPP

#include <headrace/ir/graph.hpp>

namespace headrace {

/// True if a reader of an element that is far below all others, or far above, gives the same results for any
/// such element: a maximum, for a negative number. A quantized range then need not hold it.
[[nodiscard]] bool is_passed_over(const node& reader, bool is_negative);

}  // namespace headrace

#endif
