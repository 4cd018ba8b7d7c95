// SPDX-License-Identifier: MIT
// Declares headrace::take_integers, which leaves the quantization at a program's signature to its caller.
#ifndef HEADRACE_LOWERING_INTEGER_SIGNATURE_HPP
#define HEADRACE_LOWERING_INTEGER_SIGNATURE_HPP

#include <headrace/base/result.hpp>
#include <headrace/io/program.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace {

/// Removes the quantize node after each input and the dequantize node before each output: the program then
/// takes and returns integers, whose scale and zero point are in annotations (ir/signature.hpp). An error
/// names an input or output of real numbers that is not quantized. Values that are not real numbers are not
/// changed.
[[nodiscard]] result<void> take_integers(program& p);

}  // namespace headrace

#endif
