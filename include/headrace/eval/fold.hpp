// SPDX-License-Identifier: MIT
// Declares headrace::eval::folding, which computes constants for passes.
#ifndef HEADRACE_EVAL_FOLD_HPP
#define HEADRACE_EVAL_FOLD_HPP

#include <headrace/infer/constant_evaluator.hpp>

namespace headrace::eval {

/// Computes constants with the kernels of Headrace's ops: `pass_context({.evaluator = &eval::folding})`.
/// Stores elements as TOSA packs them: INT4 in half a byte, INT48 in six bytes.
extern const constant_evaluator folding;

}  // namespace headrace::eval

#endif
