// SPDX-License-Identifier: MIT
// Declares headrace::make_real, which takes complex numbers apart before a graph is cut or observed.
#ifndef HEADRACE_RUN_MAKE_REAL_HPP
#define HEADRACE_RUN_MAKE_REAL_HPP

#include <headrace/base/function_ref.hpp>
#include <headrace/base/result.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace {

/// Replaces complex values by their parts, so that observed ranges are those of the parts, and no value that
/// crosses from one partition to another is complex. Complex inputs and outputs become real ones. An error
/// names the first node that has no such form. Transforms of nodes for which `has_wide_activations` is true
/// become products of two matrices, whose constants can have 16 bits; others become layers.
[[nodiscard]] result<void> make_real(graph& g, function_ref<bool(const node&)> has_wide_activations);
[[nodiscard]] result<void> make_real(graph& g);

}  // namespace headrace

#endif
