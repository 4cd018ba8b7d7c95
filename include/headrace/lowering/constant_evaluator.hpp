// SPDX-License-Identifier: MIT
// Defines headrace::constant_evaluator, which computes constants for headrace::fold_constants.
#ifndef HEADRACE_LOWERING_CONSTANT_EVALUATOR_HPP
#define HEADRACE_LOWERING_CONSTANT_EVALUATOR_HPP

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/pass/pass_code.hpp>

namespace headrace {

namespace eval {
class tensor;
}

/// The evaluator of eval/fold.hpp as functions that execution_definition.hpp defines, so that the translation
/// unit that compiles a pipeline need not compile the kernels.
struct constant_evaluator {
    using tensor_type = std::shared_ptr<const eval::tensor>;
    [[nodiscard]] static result<std::vector<tensor_type>> evaluate(
        const node& n, std::span<const tensor_type> operands);
    static void store(const tensor_type& t, const tensor_meta& meta, std::span<std::byte> data);
};

// headrace::compiled has the passes that compute constants, with this evaluator.
template <class Evaluator>
struct fold_constants;
template <class Evaluator>
struct fold_quantized_constants;
HEADRACE_COMPILED_PASS(fold_constants<constant_evaluator>);
HEADRACE_COMPILED_PASS(fold_quantized_constants<constant_evaluator>);

}  // namespace headrace

#endif
