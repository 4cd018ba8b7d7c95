// SPDX-License-Identifier: MIT
// Lowering of parts, methods and packages is compiled here.
#include <headrace/lowering/delegation_definition.hpp>
#include <headrace/lowering/lower_package_definition.hpp>
