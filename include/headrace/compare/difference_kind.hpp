// SPDX-License-Identifier: MIT
// Declares headrace::difference_kind, a guess at the fault in a kernel that computed other elements.
#ifndef HEADRACE_COMPARE_DIFFERENCE_KIND_HPP
#define HEADRACE_COMPARE_DIFFERENCE_KIND_HPP

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <headrace/eval/tensor.hpp>

namespace headrace {

/// The elements of a tensor that differ.
struct element_differences {
    std::vector<std::size_t> where;  ///< positions in row-major order
    double largest = 0;              ///< infinite if one of two elements is NaN
};

/// Compares two tensors of one dtype and shape. Integers differ if they are not equal; floats, if they differ
/// by more than a sum in another order explains: 0.01 % for float32, 0.4 % for float16, 3 % for bfloat16, and
/// besides a hundredth, for the shorter types a tenth, of that share of the largest element.
[[nodiscard]] element_differences differences_of(const tensor& expected, const tensor& got);

/// A tensor of an earlier layer, whose bytes may lie where another layer's result should.
struct earlier_tensor {
    std::string name;
    std::span<const std::byte> bytes;
};

/// Returns a guess at why the elements differ: "off by one: another rounding"; "of no known kind" if none of
/// the known kinds explains them. There is at least one difference.
[[nodiscard]] std::string difference_kind(const tensor& expected, const tensor& got,
    const element_differences& differing, std::span<const earlier_tensor> earlier);

}  // namespace headrace

#endif
