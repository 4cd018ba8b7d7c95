// SPDX-License-Identifier: MIT
// Defines the members of headrace::constant_evaluator.

#include <headrace/run/constant_evaluator.hpp>

#include <utility>

#include <headrace/eval/fold.hpp>

namespace headrace {

result<std::vector<constant_evaluator::tensor_type>> constant_evaluator::evaluate(
    const node& n, std::span<const tensor_type> operands) {
    std::vector<tensor> given;  // copies share their elements
    for (const tensor_type& t : operands) given.push_back(*t);
    HEADRACE_TRY(results, eval::folding::evaluate(n, given));
    std::vector<tensor_type> shared;
    for (tensor& t : results) shared.push_back(std::make_shared<const tensor>(std::move(t)));
    return shared;
}
void constant_evaluator::store(const tensor_type& t, const tensor_meta& meta, std::span<std::byte> data) {
    eval::folding::store(*t, meta, data);
}

}  // namespace headrace
