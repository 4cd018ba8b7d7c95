// SPDX-License-Identifier: MIT
// Includes the shape and dtype rules of the ops of aten, unless headrace::compiled has them.
#ifndef HEADRACE_INFER_ATEN_HPP
#define HEADRACE_INFER_ATEN_HPP

#include <headrace/dialect/aten.hpp>
#include <headrace/infer/inference.hpp>

#ifndef HEADRACE_COMPILED
#include <headrace/infer/aten_definition.hpp>
#endif

#endif
