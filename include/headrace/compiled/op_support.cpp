// SPDX-License-Identifier: MIT
// What becomes of each op is found out by code that is compiled here.
#include <headrace/lowering/op_support_definition.hpp>
