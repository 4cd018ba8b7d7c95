// SPDX-License-Identifier: MIT
// Defines how the layers of the device dialect are executed: by the kernels of the ops that they hold.
#ifndef HEADRACE_EVAL_DEVICE_HPP
#define HEADRACE_EVAL_DEVICE_HPP

#include <headrace/dialect/device.hpp>
#include <headrace/eval/builtin.hpp>

namespace headrace::eval {

template <one_of<device::dialect::all_ops> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    set_outputs(e, run_region(e, a.body, inputs_of(e, a.inputs)));
}

}  // namespace headrace::eval

#endif
