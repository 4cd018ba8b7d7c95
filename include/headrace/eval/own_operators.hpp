// SPDX-License-Identifier: MIT
// Defines headrace::own_operators: the kernels and inference rules of user-defined dialects.
#ifndef HEADRACE_EVAL_OWN_OPERATORS_HPP
#define HEADRACE_EVAL_OWN_OPERATORS_HPP

#include <headrace/infer/inference.hpp>

namespace headrace::eval {

class evaluation;

/// A kernel; `arguments` points to the op's argument struct.
using evaluation_kernel = void (*)(const void* arguments, evaluation& e);

/// Lookups for ops of dialects that are not Headrace's; `operators_of<Dialects...>` in eval/evaluation.hpp.
/// Null: there are none.
struct own_operators {
    evaluation_kernel (*kernel_of)(const op_info& op) = nullptr;
    inference_rule (*rule_of)(const op_info& op) = nullptr;
};

}  // namespace headrace::eval

namespace headrace {
using eval::own_operators;
}  // namespace headrace

#endif
