// SPDX-License-Identifier: MIT
// What headrace::fold_constants computes constants with, and inference of any node: behind functions, so that
// the pipeline's translation unit compiles neither kernels nor rules.
#ifndef HEADRACE_EXAMPLES_CLI_CONSTANT_EVALUATOR_HPP
#define HEADRACE_EXAMPLES_CLI_CONSTANT_EVALUATOR_HPP

#include <memory>
#include <vector>

#include <headrace/infer/inference.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace::eval {
class tensor;
}

namespace headrace::cli {

struct constant_evaluator {
    using tensor_type = std::shared_ptr<const eval::tensor>;
    [[nodiscard]] static result<std::vector<tensor_type>> evaluate(const node& n,
                                                                   std::span<const tensor_type> operands);
    static void store(const tensor_type& t, const tensor_meta& meta, std::span<std::byte> data);
};

/// Shape inference of any node, for passes that meet one without `val`.
[[nodiscard]] result<void> infer_node(const node& n, inference& out);

}  // namespace headrace::cli

#endif
