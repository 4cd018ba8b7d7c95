// SPDX-License-Identifier: MIT
// Declares headrace::find_oversized, which finds the first tensor of 2^31 elements or more.
#ifndef HEADRACE_RUN_OVERSIZED_HPP
#define HEADRACE_RUN_OVERSIZED_HPP

#include <cstdint>

#include <headrace/ir/graph.hpp>

namespace headrace {

/// The number of elements that exceeds TOSA's level 8K for any dtype: 2^31 - 1 bytes (TOSA 1.0, section 1.5).
inline constexpr std::int64_t oversized_elements = std::int64_t{1} << 31;

/// Returns the first node of a graph and its regions with such a result; null if there is none.
[[nodiscard]] const node* find_oversized(const graph& g);

}  // namespace headrace

#endif
