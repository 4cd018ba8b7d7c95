// SPDX-License-Identifier: MIT
// Includes the shape and dtype rules of the ops of dim_order_ops, unless headrace::compiled has them.
#ifndef HEADRACE_INFER_DIM_ORDER_OPS_HPP
#define HEADRACE_INFER_DIM_ORDER_OPS_HPP

#include <headrace/dialect/dim_order_ops.hpp>
#include <headrace/infer/inference.hpp>

#ifndef HEADRACE_COMPILED
#include <headrace/infer/dim_order_ops_definition.hpp>
#endif

#endif
