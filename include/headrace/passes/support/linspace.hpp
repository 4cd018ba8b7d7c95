// SPDX-License-Identifier: MIT
// Defines headrace::linspace_element, the numbers of aten.linspace.
#ifndef HEADRACE_PASSES_SUPPORT_LINSPACE_HPP
#define HEADRACE_PASSES_SUPPORT_LINSPACE_HPP

#include <cstdint>

#include <headrace/dialect/aten.hpp>

namespace headrace {

/// Returns element `i`. Counts from the nearer end, as PyTorch does, so that both ends are exact.
[[nodiscard]] inline double linspace_element(const args<aten::linspace>& a, std::int64_t i) {
    const double start = a.start.to_double();
    const double end = a.end.to_double();
    if (a.steps == 1) return start;
    const double step = (end - start) / static_cast<double>(a.steps - 1);
    return i < a.steps / 2 ? start + step * static_cast<double>(i)
                           : end - step * static_cast<double>(a.steps - 1 - i);
}

}  // namespace headrace

#endif
