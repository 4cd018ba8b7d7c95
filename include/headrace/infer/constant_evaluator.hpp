// SPDX-License-Identifier: MIT
// Defines headrace::constant_evaluator, the functions that compute constants for passes.
#ifndef HEADRACE_INFER_CONSTANT_EVALUATOR_HPP
#define HEADRACE_INFER_CONSTANT_EVALUATOR_HPP

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace {

namespace eval {
class tensor;
}

/// Executes nodes whose operands are constants. Pointers to functions, so that passes include no kernels:
/// headrace::eval::folding in eval/fold.hpp is the evaluator with those of Headrace's ops.
struct constant_evaluator {
    using tensor_type = std::shared_ptr<const eval::tensor>;

    /// Returns a node's results; without operands, those of a constant or of a shape.
    result<std::vector<tensor_type>> (*evaluate)(const node& n, std::span<const tensor_type> operands);
    /// Writes the elements as those of a constant with that metadata.
    void (*store)(const eval::tensor& t, const tensor_meta& meta, std::span<std::byte> data);
};

}  // namespace headrace

#endif
