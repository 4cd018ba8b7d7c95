// SPDX-License-Identifier: MIT
// Defines headrace::detail::range_rules: the interval of each op's results, given those of its operands.
#ifndef HEADRACE_INFER_RANGES_RANGE_RULES_HPP
#define HEADRACE_INFER_RANGES_RANGE_RULES_HPP

#include <span>

#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/dim_order_ops.hpp>
#include <headrace/infer/ranges/held_interval.hpp>
#include <headrace/infer/ranges/range_query.hpp>

namespace headrace::detail {

/// The rules of ops whose interval their traits do not determine; see range_rules_definition.hpp.
[[nodiscard]] std::span<const range_rule> range_rules();

/// Returns the numbers that a result can hold before its dtype wraps them around.
[[nodiscard]] interval computed_range(const range_query& q);

}  // namespace headrace::detail

#ifndef HEADRACE_COMPILED
#include <headrace/infer/ranges/range_rules_definition.hpp>
#endif

#endif
