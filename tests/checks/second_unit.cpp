// SPDX-License-Identifier: MIT
// Includes everything, as dump_passes.cpp does: that the two link shows that headers define nothing twice.
#include <headrace/headrace.hpp>
#include <headrace/passes/definitions.hpp>
