// SPDX-License-Identifier: MIT
// All kernels and all inference rules are compiled here.
#include <headrace/lowering/execution_definition.hpp>
