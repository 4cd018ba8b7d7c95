// SPDX-License-Identifier: MIT
// Defines headrace::wide_float and its functions.
#ifndef HEADRACE_BASE_WIDE_FLOAT_HPP
#define HEADRACE_BASE_WIDE_FLOAT_HPP

#include <cfloat>
#include <cmath>

#if LDBL_MANT_DIG < 64
#include <headrace/base/double_double.hpp>
#endif

namespace headrace {

/// A binary floating-point number that represents 64-bit integers exactly.
#if LDBL_MANT_DIG < 64
using wide_float = double_double;
#else
using wide_float = long double;
#endif

/// Functions of wide_float: those of the standard library, or those of double_double by its arguments.
namespace wide {

using std::abs, std::ceil, std::exp, std::exp2, std::floor, std::fmod, std::isinf, std::ldexp, std::log2,
    std::nearbyint, std::pow, std::trunc;

}  // namespace wide

}  // namespace headrace

#endif
