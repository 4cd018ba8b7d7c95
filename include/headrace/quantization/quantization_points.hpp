// SPDX-License-Identifier: MIT
// Defines headrace::quantization_point: a value of a graph that is observed and quantized.
#ifndef HEADRACE_QUANTIZATION_QUANTIZATION_POINTS_HPP
#define HEADRACE_QUANTIZATION_QUANTIZATION_POINTS_HPP

#include <cstddef>
#include <vector>

#include <headrace/ir/graph.hpp>
#include <headrace/quantization/quantization_groups.hpp>

namespace headrace {

/// A value that is quantized with the parameters of a group, after its producer or before its first reader.
struct quantization_point {
    value source;
    quantization_groups::key group;
    node* before;                ///< the node before which it is inserted
    std::vector<edge*> readers;  ///< the operands that read the quantized value
    std::size_t inner;           ///< the point whose quantized value this one reads, or no_point
};

inline constexpr std::size_t no_point = static_cast<std::size_t>(-1);

/// Returns a point of no group, at which a value is observed and not quantized.
[[nodiscard]] inline quantization_point observed_point(value v) {
    return {v, quantization_groups::none, nullptr, {}, no_point};
}

/// Returns all points of a graph, in the order in which their values are computed (torchao, prepare). A value
/// with parameters of its own is quantized for all its readers; a reader that needs other parameters gets a
/// second point after that one.
[[nodiscard]] std::vector<quantization_point> quantization_points_of(
    const graph& g, const quantization_groups& groups);

}  // namespace headrace

#endif
