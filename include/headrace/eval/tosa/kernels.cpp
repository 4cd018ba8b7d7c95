// SPDX-License-Identifier: MIT
// The kernels of TOSA are compiled here: with those of ATen, they would take a compiler 1.6 GB.
#include <headrace/dialect/tosa.hpp>
#include <headrace/eval/evaluation.hpp>
#include <headrace/eval/tosa.hpp>

namespace headrace::eval {

template evaluation_kernel detail::kernel_in<tosa::dialect>(const op_info& op);

}  // namespace headrace::eval
