// SPDX-License-Identifier: MIT
// Declares headrace::reducing::splat, the elements of constants that are all zeros or ones.
#ifndef HEADRACE_REDUCE_SPLAT_HPP
#define HEADRACE_REDUCE_SPLAT_HPP

#include <optional>

#include <headrace/ir/node.hpp>

namespace headrace::reducing {

/// Returns a constant's elements, all of them zeros or ones: strides of zero repeat one element. Nothing for
/// dtypes that have no such element of whole bytes, and for more than six axes.
[[nodiscard]] std::optional<tensor_data> splat(const tensor_meta& meta, bool of_ones);

/// True for what `splat` returns, and for a constant of one element.
[[nodiscard]] bool is_splat(const node& constant);

}  // namespace headrace::reducing

#endif
