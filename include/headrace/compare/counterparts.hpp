// SPDX-License-Identifier: MIT
// Declares headrace::counterparts_of, which finds the layers of a program in what was made from it.
#ifndef HEADRACE_COMPARE_COUNTERPARTS_HPP
#define HEADRACE_COMPARE_COUNTERPARTS_HPP

#include <optional>
#include <vector>

#include <headrace/base/dtype.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace {

/// A layer of a program, and what a graph that was lowered from it computes for it.
struct counterpart {
    value reference;
    value lowered{};
    const node* layer = nullptr;   ///< of the reference; quantized by what computes `reference`
    const node* kernel = nullptr;  ///< computes what `lowered` has, maybe in another shape
    bool is_ordered = false;       ///< the shapes tell how the elements lie
};

/// Finds layers again by the names of the nodes from which lowered ones descend. A name that several nodes of
/// the reference have tells nothing. Values whose elements cannot stand for the same numbers are left out.
[[nodiscard]] std::vector<counterpart> counterparts_of(const graph& reference, const graph& lowered);

/// Returns what is added to the elements of a lowered value to compare them: its bytes are signed. Nothing if
/// the elements do not stand for the same numbers.
[[nodiscard]] std::optional<double> offset_between(dtype reference, dtype lowered);

}  // namespace headrace

#endif
