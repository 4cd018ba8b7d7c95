// SPDX-License-Identifier: MIT
// The passes of passes/legalize are declared here.
#include <headrace/passes/declare/declarations.hpp>
#include <headrace/passes/legalize/legalize.hpp>

void headrace::declare::declare_legalize(declarations& out) { out.add_all(legalize_passes{}); }
