// SPDX-License-Identifier: MIT
// The passes of passes/u55 are declared here.
#include <headrace/passes/declare/declarations.hpp>
#include <headrace/passes/u55/u55.hpp>

void headrace::declare::declare_u55(declarations& out) { out.add_all(u55_passes{}); }
