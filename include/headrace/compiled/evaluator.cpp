// SPDX-License-Identifier: MIT
// All kernels are compiled here.
#include <headrace/eval/evaluator_definition.hpp>
