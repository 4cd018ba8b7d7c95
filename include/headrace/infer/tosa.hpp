// SPDX-License-Identifier: MIT
// Includes the shape and dtype rules of the ops of tosa, unless headrace::compiled has them.
#ifndef HEADRACE_INFER_TOSA_HPP
#define HEADRACE_INFER_TOSA_HPP

#include <headrace/dialect/tosa.hpp>
#include <headrace/infer/inference.hpp>

#ifndef HEADRACE_COMPILED
#include <headrace/infer/tosa_definition.hpp>
#endif

#endif
