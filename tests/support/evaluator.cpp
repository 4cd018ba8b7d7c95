// SPDX-License-Identifier: MIT
// All kernels, compiled once for the tests: see prebuilt/headrace/eval/evaluator.hpp.
#include <headrace/eval/evaluator.hpp>

namespace headrace::prebuilt {

using tensors = std::vector<eval::tensor>;

result<tensors> evaluate_node(const node& n, std::span<const eval::tensor> operands);
result<tensors> run_graph(const graph& g, std::span<const eval::tensor> inputs);
result<tensors> run_planned(const graph& g, const memory_plan& plan, std::span<const eval::tensor> inputs);

result<tensors> evaluate_node(const node& n, std::span<const eval::tensor> operands) {
    return eval::evaluate_node(n, operands);
}
result<tensors> run_graph(const graph& g, std::span<const eval::tensor> inputs) {
    return eval::run_graph(g, inputs);
}
result<tensors> run_planned(const graph& g, const memory_plan& plan, std::span<const eval::tensor> inputs) {
    return eval::run_planned(g, plan, inputs);
}

}  // namespace headrace::prebuilt
