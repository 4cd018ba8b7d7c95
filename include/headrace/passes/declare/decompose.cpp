// SPDX-License-Identifier: MIT
// The passes of passes/decompose are declared here.
#include <headrace/passes/declare/declarations.hpp>
#include <headrace/passes/decompose/decompose.hpp>

void headrace::declare::declare_decompose(declarations& out) { out.add_all(decompose_passes{}); }
