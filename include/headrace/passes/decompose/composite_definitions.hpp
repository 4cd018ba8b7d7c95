// SPDX-License-Identifier: MIT
// Includes the definitions of the passes of headrace::composite_passes.
#ifndef HEADRACE_PASSES_DECOMPOSE_COMPOSITE_DEFINITIONS_HPP
#define HEADRACE_PASSES_DECOMPOSE_COMPOSITE_DEFINITIONS_HPP

#include <headrace/passes/decompose/losses.hpp>
#include <headrace/passes/decompose/norms.hpp>
#include <headrace/passes/decompose/products.hpp>
#include <headrace/passes/decompose/scans.hpp>
#include <headrace/passes/decompose/scatter.hpp>
#include <headrace/passes/decompose/searches.hpp>
#include <headrace/passes/decompose/special.hpp>
#include <headrace/passes/decompose/statistics.hpp>
#include <headrace/passes/decompose/tables.hpp>

#endif
