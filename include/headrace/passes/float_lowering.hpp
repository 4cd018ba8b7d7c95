// SPDX-License-Identifier: MIT
// Defines headrace::float_lowering, the standard pipeline from exported float programs to TOSA.
#ifndef HEADRACE_PASSES_FLOAT_LOWERING_HPP
#define HEADRACE_PASSES_FLOAT_LOWERING_HPP

#include <headrace/op/quantized_decomposed.hpp>
#include <headrace/pass/algebra.hpp>
#include <headrace/passes/decompose/decompose.hpp>
#include <headrace/passes/legalize/legalize.hpp>
#include <headrace/passes/normalize/narrow_int64.hpp>
#include <headrace/passes/normalize/normalize.hpp>

namespace headrace {

using float_lowering = detail::with_passes<from<aten::dialect>, to<tosa::dialect, aten::dialect>,
    typename detail::join_passes<normalize_passes, decompose_passes, pass_list<narrow_int64>,
                                  legalize_passes>::type>::type;

}  // namespace headrace

#endif
