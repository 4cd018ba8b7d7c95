// SPDX-License-Identifier: MIT
// Includes the shape and dtype rules of the ops of quantized_decomposed, unless headrace::compiled has them.
#ifndef HEADRACE_INFER_QUANTIZED_DECOMPOSED_HPP
#define HEADRACE_INFER_QUANTIZED_DECOMPOSED_HPP

#include <headrace/dialect/quantized_decomposed.hpp>
#include <headrace/infer/inference.hpp>

#ifndef HEADRACE_COMPILED
#include <headrace/infer/quantized_decomposed_definition.hpp>
#endif

#endif
