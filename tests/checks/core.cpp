// SPDX-License-Identifier: MIT
// Includes the core, for checks that compile it with other flags and from other places: -fno-exceptions
// -fno-rtti, the single headers.
#if defined(HEADRACE_SINGLE_PASSES)
#include "headrace_passes.hpp"
#else
#include <headrace/headrace.hpp>
#endif

static_assert(headrace::every_op<headrace::tosa::dialect>.contains<headrace::tosa::add>());
