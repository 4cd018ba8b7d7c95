// SPDX-License-Identifier: MIT
// The kernels of all dialects but TOSA are compiled here; evaluator_tosa.cpp has those.
#include <headrace/eval/evaluator_definition.hpp>
