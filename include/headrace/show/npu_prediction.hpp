// SPDX-License-Identifier: MIT
// Declares headrace::predict_cycles, an estimate of what a TOSA graph takes on an Ethos-U.
#ifndef HEADRACE_SHOW_NPU_PREDICTION_HPP
#define HEADRACE_SHOW_NPU_PREDICTION_HPP

#include <string>
#include <vector>

#include <headrace/ir/graph.hpp>
#include <headrace/target/npu.hpp>

namespace headrace {

/// An operator of an NPU: a TOSA operator and those that are fused into it.
struct predicted_operator {
    std::string op;    ///< "tosa.CONV2D"
    std::string name;  ///< of its result, after all that is fused
    double cycles = 0;
};

/// Predicts the cycles of each operator, in the order of execution.
[[nodiscard]] std::vector<predicted_operator> predict_cycles(const graph& g, const npu& target);

}  // namespace headrace

#endif
