// SPDX-License-Identifier: MIT
// Execution of graphs of any dialects is compiled here.
#include <headrace/lowering/execution_definition.hpp>
