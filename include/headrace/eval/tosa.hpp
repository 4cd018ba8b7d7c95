// SPDX-License-Identifier: MIT
// Includes the kernels of all operators of TOSA 1.0 except CUSTOM.
#ifndef HEADRACE_EVAL_TOSA_HPP
#define HEADRACE_EVAL_TOSA_HPP

#include <headrace/eval/tosa_convert.hpp>
#include <headrace/eval/tosa_elementwise.hpp>
#include <headrace/eval/tosa_layout.hpp>
#include <headrace/eval/tosa_tensor.hpp>

#endif
