// SPDX-License-Identifier: MIT
// Declares headrace::reducing::leave_out, delta debugging over a list of items.
#ifndef HEADRACE_REDUCE_DELTA_DEBUGGING_HPP
#define HEADRACE_REDUCE_DELTA_DEBUGGING_HPP

#include <cstdint>
#include <vector>

#include <headrace/base/function_ref.hpp>
#include <headrace/base/result.hpp>

namespace headrace::reducing {

/// Items, such as ids of nodes, in order.
using item_list = std::vector<std::uint32_t>;

/// Leaves out as many items as possible, and returns those that are left: `holds(kept)` is true for them,
/// or nothing can be left out. All are tried first, then halves, quarters and so on; of these, the last
/// first. In the end no single item can be left out (Zeller and Hildebrandt, "Simplifying and Isolating
/// Failure-Inducing Input", IEEE TSE 28(2), 2002; without its tests of single parts). If k of n items must
/// stay, it takes about 2 k log2(n) tests.
[[nodiscard]] result<item_list> leave_out(
    item_list items, function_ref<result<bool>(const item_list& kept)> holds);

}  // namespace headrace::reducing

#endif
