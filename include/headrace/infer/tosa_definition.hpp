// SPDX-License-Identifier: MIT
// Defines the shape and dtype rules of the tosa dialect.
#ifndef HEADRACE_INFER_TOSA_DEFINITION_HPP
#define HEADRACE_INFER_TOSA_DEFINITION_HPP

#include <headrace/infer/tosa/data.hpp>
#include <headrace/infer/tosa/elementwise.hpp>
#include <headrace/infer/tosa/layout.hpp>
#include <headrace/infer/tosa/requirements.hpp>
#include <headrace/infer/tosa/resize.hpp>
#include <headrace/infer/tosa/tensor_operators.hpp>

#endif
