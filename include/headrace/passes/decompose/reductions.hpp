// SPDX-License-Identifier: MIT
// Defines the reductions of expressions, headrace::sum and others, and headrace::reduction_rules.
#ifndef HEADRACE_PASSES_DECOMPOSE_REDUCTIONS_HPP
#define HEADRACE_PASSES_DECOMPOSE_REDUCTIONS_HPP

#include <algorithm>

#include <headrace/passes/decompose/shapes.hpp>

namespace headrace {

// Reduce along these axes, or all if there are none; reduced axes are kept with size 1.
auto sum(const reading auto& x, const int_list& axes) { return call<aten::sum_dim_intlist>(x, axes, true); }
auto mean(const reading auto& x, const int_list& axes) { return call<aten::mean_dim>(x, axes, true); }
auto largest(const reading auto& x, const int_list& axes) { return call<aten::amax>(x, axes, true); }
auto smallest(const reading auto& x, const int_list& axes) { return call<aten::amin>(x, axes, true); }

/// Returns how many elements of x are reduced to one element of `reduced`.
template <reading X, reading Y>
[[nodiscard]] double reduced_count(const X& x, const Y& reduced) {
    const std::int64_t left = std::max<std::int64_t>(reduced.meta().elements(), 1);
    return static_cast<double>(x.meta().elements() / left);
}

/// Σx · (1/N), computed in `type`.
template <reading X>
[[nodiscard]] auto average(const X& x, const std::optional<int_list>& axes, bool keepdim, dtype type) {
    const auto total = call<aten::sum_dim_intlist>(x, axes, keepdim, type);
    return scaled(total, 1 / reduced_count(x, total));
}

/// Ends a rewrite that kept the axes along which it reduced: x in the shape and the dtype of the result that
/// it replaces.
template <reading X>
[[nodiscard]] auto as_result(const X& x, std::uint32_t result = 0) {
    return viewed(in_result_type(x, result), x.result_meta(result).shape);
}

/// The policy for real functions along axes: computed in float32; a tensor of rank 0 has an axis of size 1.
struct reduced_in_float32 {
    static constexpr auto made = ops_in<aten::_to_copy, aten::view>;
    static term operand(const term& x) {
        const term real = as(x, dtype::float32);
        return real.rank() == 0 ? viewed(real, int_list{1}) : real;
    }
    static term result(const term& y, std::uint32_t i) { return as_result(y, i); }
};
/// Rules for real functions along axes.
template <class... Lists>
constexpr auto reduction_rules(Lists... lists) {
    return rules_with<reduced_in_float32>(lists...);
}

}  // namespace headrace

#endif
