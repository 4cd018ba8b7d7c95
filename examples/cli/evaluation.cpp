// SPDX-License-Identifier: MIT
#include "evaluation.hpp"

#include <cmath>
#include <limits>

#include <headrace/eval/evaluator.hpp>
#include <headrace/eval/fold.hpp>

namespace headrace::cli {

result<std::vector<tensor>> execute(const graph& g, std::span<const tensor> inputs) { return run_graph(g, inputs); }

result<std::vector<tensor>> constant_evaluator::evaluate(const node& n, std::span<const tensor> operands) {
    return eval::folding::evaluate(n, operands);
}
void constant_evaluator::store(const tensor& t, const tensor_meta& meta, std::span<std::byte> data) {
    eval::folding::store(t, meta, data);
}

namespace {

double element_difference(double x, double y) {
    if (x == y || (std::isnan(x) && std::isnan(y))) return 0;
    const double d = std::abs(x - y) / (1 + std::abs(x));
    return std::isnan(d) ? std::numeric_limits<double>::infinity() : d;
}

}  // namespace

double difference(std::span<const tensor> a, std::span<const tensor> b) {
    double worst = 0;
    for (std::size_t i = 0; i != std::min(a.size(), b.size()); ++i) {
        if (a[i].shape() != b[i].shape()) return std::numeric_limits<double>::infinity();
        for (std::int64_t k = 0; k != a[i].size(); ++k) {
            worst = std::max(worst, element_difference(a[i].real(k), b[i].real(k)));
        }
    }
    return worst;
}

}  // namespace headrace::cli
