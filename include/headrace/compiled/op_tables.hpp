// SPDX-License-Identifier: MIT
// Includes the dialects of the core and makes the descriptions of their ops, for the precompiled header: one
// takes a compiler about 10 ms, and each unit would make hundreds again.
#ifndef HEADRACE_COMPILED_OP_TABLES_HPP
#define HEADRACE_COMPILED_OP_TABLES_HPP

#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/builtin.hpp>
#include <headrace/dialect/dim_order_ops.hpp>
#include <headrace/dialect/higher_order.hpp>
#include <headrace/dialect/quantized_decomposed.hpp>
#include <headrace/dialect/tosa.hpp>
#include <headrace/op/op.hpp>

namespace headrace {

// Reading an entry of a constant makes all of its entries.
static_assert(op_table<aten::dialect>[0] != nullptr);
static_assert(op_table<builtin::dialect>[0] != nullptr);
static_assert(op_table<dim_order_ops::dialect>[0] != nullptr);
static_assert(op_table<higher_order::dialect>[0] != nullptr);
static_assert(op_table<quantized_decomposed::dialect>[0] != nullptr);
static_assert(op_table<tosa::dialect>[0] != nullptr);

}  // namespace headrace

#endif
