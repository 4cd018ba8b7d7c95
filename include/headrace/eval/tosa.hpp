// SPDX-License-Identifier: MIT
// Includes the kernels of all TOSA operators.
#ifndef HEADRACE_EVAL_TOSA_HPP
#define HEADRACE_EVAL_TOSA_HPP
#include <headrace/op/tosa.hpp>
#endif
