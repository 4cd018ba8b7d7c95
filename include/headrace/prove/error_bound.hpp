// SPDX-License-Identifier: MIT
// Declares headrace::prove::rounding_errors, which bounds how far quantization moves each layer.
#ifndef HEADRACE_PROVE_ERROR_BOUND_HPP
#define HEADRACE_PROVE_ERROR_BOUND_HPP

#include <cstddef>
#include <string>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace::prove {

/// A bound of the difference between a quantized tensor and that of the same graph without rounding.
struct layer_error {
    const node* where = nullptr;
    double error = 0;  ///< infinite if none is known
    double scale = 0;  ///< of the quantized tensor; 0 for an output
};
struct error_bounds {
    std::vector<layer_error> layers{};   ///< each quantize_per_tensor, in execution order
    std::vector<layer_error> outputs{};  ///< each output of the graph
};

/// Bounds the errors of a quantized graph as exported (quantize and dequantize nodes around ATen's ops)
/// against the same graph whose activations are not rounded; weights and biases are those of the graph.
/// Each quantize adds half a step, and each layer multiplies the error of its input by the L1 norm of its
/// weights, or by the Lipschitz constant of its function. Assumes that no number saturates, so that no
/// error exceeds the quantized range, and that TOSA's scales, of 31 bits, are exact. A graph that is not
/// quantized is refused.
[[nodiscard]] result<error_bounds> rounding_errors(const graph& g);

/// Returns a line for each layer and each output.
[[nodiscard]] std::string error_text(const error_bounds& bounds);

}  // namespace headrace::prove

#endif
