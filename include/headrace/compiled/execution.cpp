// SPDX-License-Identifier: MIT
// All inference rules are compiled here.
#include <headrace/lowering/execution_definition.hpp>
