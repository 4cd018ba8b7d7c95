// SPDX-License-Identifier: MIT
// Defines headrace::narrowed.
#ifndef HEADRACE_PASSES_SUPPORT_NARROWING_HPP
#define HEADRACE_PASSES_SUPPORT_NARROWING_HPP

#include <headrace/base/dtype.hpp>

namespace headrace {

/// Returns int32 for int64, since TOSA 1.0 has no INT64; other dtypes are unchanged.
[[nodiscard]] constexpr dtype narrowed(dtype t) { return t == dtype::int64 ? dtype::int32 : t; }

}  // namespace headrace

#endif
