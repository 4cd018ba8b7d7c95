// SPDX-License-Identifier: MIT
// Defines headrace::wide_float and its functions.
#ifndef HEADRACE_BASE_WIDE_FLOAT_HPP
#define HEADRACE_BASE_WIDE_FLOAT_HPP

#include <cmath>
#include <limits>
#include <type_traits>

#include <headrace/base/double_double.hpp>

namespace headrace {

/// A binary floating-point number that represents 64-bit integers exactly.
using wide_float =
    std::conditional_t<(std::numeric_limits<long double>::digits >= 64), long double, double_double>;

/// The functions of wide_float: those of the standard library, and of double_double.
namespace wide {

using std::abs, std::ceil, std::exp, std::exp2, std::floor, std::fmod, std::isinf, std::ldexp, std::log2,
    std::nearbyint, std::pow, std::trunc;

}  // namespace wide

}  // namespace headrace

#endif
