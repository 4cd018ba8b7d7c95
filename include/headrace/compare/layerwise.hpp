// SPDX-License-Identifier: MIT
// Declares headrace::compare_layerwise, which compares each layer of two forms of a model from equal inputs.
#ifndef HEADRACE_COMPARE_LAYERWISE_HPP
#define HEADRACE_COMPARE_LAYERWISE_HPP

#include <span>
#include <string>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/eval/tensor.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace {

/// How a layer differs that two forms of a model compute from equal inputs.
struct layerwise_difference {
    std::string name;       ///< in the reference
    std::string op;         ///< of the reference
    std::string other;      ///< op in the other model
    bool in_steps = false;  ///< the layer is quantized, and the difference is in steps
    /// The largest difference: of integers, or of numbers relative to 1 + the magnitude.
    double difference = 0;
    double granted = 0;     ///< a larger difference is not one of rounding; infinite if that cannot be said
    bool is_moved = false;  ///< the order of the elements is unknown: both were sorted
    [[nodiscard]] bool is_wrong() const { return difference > granted; }
};

struct layerwise_comparison {
    std::vector<layerwise_difference> layers;  ///< in the order of the reference
    std::vector<tensor> outputs;  ///< of the reference, whose last layers read what the other has computed
    std::vector<tensor> other_outputs;
};

/// Runs a lowered graph, and then the program that it was lowered from. Each layer of the latter reads the
/// values of the lowered graph, so that differences do not add up. A difference is thus that of one layer, or
/// of several if the lowered graph has no value for some of them, or none whose order of elements is known. A
/// kernel may round a value the other way: this is one step for one layer, and more for a kernel that
/// computes several. Both models take the same inputs.
[[nodiscard]] result<layerwise_comparison> compare_layerwise(
    const graph& reference, const graph& lowered, std::span<const tensor> inputs);

}  // namespace headrace

#endif
