// SPDX-License-Identifier: MIT
// Defines headrace::eval::as_pairs and from_pairs, which read complex tensors as pairs of real numbers.
#ifndef HEADRACE_EVAL_COMPLEX_PAIRS_HPP
#define HEADRACE_EVAL_COMPLEX_PAIRS_HPP

#include <algorithm>
#include <utility>

#include <headrace/eval/tensor.hpp>
#include <headrace/infer/promotion.hpp>

namespace headrace::eval {

namespace detail {

[[nodiscard]] inline tensor reread(const tensor& t, dtype type, extents shape) {
    tensor result(type, std::move(shape));
    std::ranges::copy(t.bytes(), result.mutable_bytes().begin());
    return result;
}

}  // namespace detail

/// Returns complex numbers with their parts along a new last axis, in the same order as in memory.
[[nodiscard]] inline tensor as_pairs(const tensor& t) {
    extents shape = t.shape();
    shape.push_back(2);
    return detail::reread(t, magnitude_of(t.type()), std::move(shape));
}
/// Returns the complex numbers of that type whose parts are along the last axis.
[[nodiscard]] inline tensor from_pairs(const tensor& t, dtype type) {
    extents shape = t.shape();
    shape.pop_back();
    return detail::reread(t.cast(magnitude_of(type)), type, std::move(shape));
}

}  // namespace headrace::eval

namespace headrace {
using eval::as_pairs;
using eval::from_pairs;
}  // namespace headrace

#endif
