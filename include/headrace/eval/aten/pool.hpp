// SPDX-License-Identifier: MIT
// Declares the parts of poolings that several dialects share.
#ifndef HEADRACE_EVAL_ATEN_POOL_HPP
#define HEADRACE_EVAL_ATEN_POOL_HPP

#include <cstddef>

#include <headrace/eval/evaluation.hpp>
#include <headrace/eval/volume.hpp>

namespace headrace::eval {

/// The arguments of a pooling of `count` dimensions.
struct pool_arguments {
    std::size_t count;
    int_list kernel, stride, padding, dilation;
    bool count_padding;
};

[[nodiscard]] triple pooled_sizes(const extents& shape, std::size_t count);
[[nodiscard]] pool_ranges pool_ranges_of(const triple& in, const triple& out, const pool_arguments& a);

/// NaN counts as the largest value, unless it is to be skipped in favour of numbers. The second result, if
/// there is one, holds positions within the plane.
void max_pool(evaluation& e, value self, const triple& in, const pool_ranges& ranges, bool nan_counts = true);

}  // namespace headrace::eval

#endif
