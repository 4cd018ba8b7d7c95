// SPDX-License-Identifier: MIT
// Defines the functions of lowering/execution.hpp. Include it in exactly one translation unit of a program:
// it compiles every kernel and every inference rule.
#ifndef HEADRACE_LOWERING_EXECUTION_DEFINITION_HPP
#define HEADRACE_LOWERING_EXECUTION_DEFINITION_HPP

#include <headrace/eval/evaluator.hpp>
#include <headrace/eval/fold.hpp>
#include <headrace/eval/planned_arena.hpp>
#include <headrace/infer/aten.hpp>
#include <headrace/infer/delegate.hpp>
#include <headrace/infer/dim_order_ops.hpp>
#include <headrace/infer/higher_order.hpp>
#include <headrace/infer/memory.hpp>
#include <headrace/infer/quantized_decomposed.hpp>
#include <headrace/infer/tosa.hpp>
#include <headrace/infer/verify.hpp>
#include <headrace/lowering/constant_evaluator.hpp>
#include <headrace/lowering/execution.hpp>
#include <headrace/memory/out_variant.hpp>

namespace headrace {

result<std::vector<tensor>> execute(const graph& g, std::span<const tensor> inputs) {
    return run_graph(g, inputs);
}
result<std::vector<tensor>> execute_planned(const graph& g, const memory_plan& plan,
                                            std::span<const tensor> inputs) {
    return run_planned(g, plan, inputs);
}
std::uint64_t executed_bytes(const tensor_meta& meta) { return eval::evaluated_bytes(meta); }

result<std::vector<constant_evaluator::tensor_type>> constant_evaluator::evaluate(
    const node& n, std::span<const tensor_type> operands) {
    std::vector<tensor> given;  // copies share their elements
    for (const tensor_type& t : operands) given.push_back(*t);
    BOOST_OUTCOME_TRY(results, eval::folding::evaluate(n, given));
    std::vector<tensor_type> shared;
    for (tensor& t : results) shared.push_back(std::make_shared<const tensor>(std::move(t)));
    return shared;
}
void constant_evaluator::store(const tensor_type& t, const tensor_meta& meta, std::span<std::byte> data) {
    eval::folding::store(*t, meta, data);
}

namespace detail {

[[nodiscard]] inline inference_rule rule_of_any(const op_info& op) {
    return find_rule<aten::dialect, quantized_decomposed::dialect, dim_order_ops::dialect,
                     higher_order::dialect, tosa::dialect, delegate::dialect, memory::dialect>(
        out::functional_of(op));
}

}  // namespace detail

result<void> infer_node(const node& n, inference& out) {
    const inference_rule rule = detail::rule_of_any(*n.op);
    if (rule == nullptr) return invalid(message_prefix(n) + "no inference rule");
    return rule(n.arguments, out);
}

result<void> verify_metadata(const graph& g) {
    return verify(g, verify_options{.rule_of = &detail::rule_of_any});
}

}  // namespace headrace

#endif
