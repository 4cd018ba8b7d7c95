// SPDX-License-Identifier: MIT
// Defines headrace::narrowed.
#ifndef HEADRACE_PASSES_SUPPORT_NARROWING_HPP
#define HEADRACE_PASSES_SUPPORT_NARROWING_HPP

#include <headrace/base/dtype.hpp>

namespace headrace {

/// int64 as int32, which stands for it in a lowered graph, as TOSA 1.0 has no INT64; other types as they are.
[[nodiscard]] constexpr dtype narrowed(dtype t) { return t == dtype::int64 ? dtype::int32 : t; }

}  // namespace headrace

#endif
