// SPDX-License-Identifier: MIT
// Includes the shape and dtype rules of the ops of higher_order, unless headrace::compiled has them.
#ifndef HEADRACE_INFER_HIGHER_ORDER_HPP
#define HEADRACE_INFER_HIGHER_ORDER_HPP

#include <headrace/dialect/higher_order.hpp>
#include <headrace/infer/inference.hpp>

#ifndef HEADRACE_COMPILED
#include <headrace/infer/higher_order_definition.hpp>
#endif

#endif
