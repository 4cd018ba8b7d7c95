// SPDX-License-Identifier: MIT
// Includes the kernels of all operators of TOSA 1.0 except CUSTOM.
#ifndef HEADRACE_EVAL_TOSA_HPP
#define HEADRACE_EVAL_TOSA_HPP

#include <headrace/eval/tosa/convert.hpp>
#include <headrace/eval/tosa/elementwise.hpp>
#include <headrace/eval/tosa/layout.hpp>
#include <headrace/eval/tosa/tensor.hpp>

#endif
