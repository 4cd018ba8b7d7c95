// SPDX-License-Identifier: MIT
// Includes the headers of functions that need only an op's field table: visiting, printing, comparing and
// hashing of arguments.
#ifndef HEADRACE_OP_REFLECT_HPP
#define HEADRACE_OP_REFLECT_HPP

#include <headrace/op/equal_arguments.hpp>
#include <headrace/op/print_arguments.hpp>
#include <headrace/op/visit_field.hpp>

#endif
