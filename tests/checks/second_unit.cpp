// SPDX-License-Identifier: MIT
// Includes everything, like dump_passes.cpp: linking the two shows that headers define nothing twice.
#include <headrace/headrace.hpp>
#include <headrace/passes/definitions.hpp>
