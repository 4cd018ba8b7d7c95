// SPDX-License-Identifier: MIT
#include "evaluation.hpp"

#include <cmath>
#include <limits>

#include <headrace/eval/evaluator.hpp>
#include <headrace/eval/fold.hpp>
#include <headrace/infer/aten.hpp>
#include <headrace/infer/delegate.hpp>
#include <headrace/infer/dim_order_ops.hpp>
#include <headrace/infer/higher_order.hpp>
#include <headrace/infer/memory.hpp>
#include <headrace/infer/quantized_decomposed.hpp>
#include <headrace/infer/tosa.hpp>
#include <headrace/infer/verify.hpp>
#include <headrace/memory/out_variant.hpp>

#include "constant_evaluator.hpp"

namespace headrace::cli {

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

namespace {

inference_rule rule_of(const op_info& op) {
    return find_rule<aten::dialect, quantized_decomposed::dialect, dim_order_ops::dialect,
                     higher_order::dialect, tosa::dialect, delegate::dialect, memory::dialect>(
        out::functional_of(op));
}

}  // namespace

result<void> infer_node(const node& n, inference& out) {
    const inference_rule rule = rule_of(*n.op);
    if (rule == nullptr) return invalid(message_prefix(n) + "no inference rule");
    return rule(n.arguments, out);
}

result<void> check_metadata(const graph& g) { return verify(g, verify_options{.rule_of = &rule_of}); }

namespace {

double element_difference(double x, double y, double granted) {
    if (x == y || (std::isnan(x) && std::isnan(y))) return 0;
    const double d = std::max(std::abs(x - y) - granted, 0.0) / (1 + std::abs(x));
    return std::isnan(d) ? std::numeric_limits<double>::infinity() : d;
}

}  // namespace

double difference(std::span<const tensor> a, std::span<const tensor> b, std::span<const double> granted) {
    double worst = 0;
    for (std::size_t i = 0; i != std::min(a.size(), b.size()); ++i) {
        if (a[i].shape() != b[i].shape()) return std::numeric_limits<double>::infinity();
        const double grant = i < granted.size() ? granted[i] : 0;
        for (std::int64_t k = 0; k != a[i].size(); ++k) {
            worst = std::max(worst, element_difference(a[i].real(k), b[i].real(k), grant));
        }
    }
    return worst;
}

}  // namespace headrace::cli
