// SPDX-License-Identifier: MIT
// Lowering to one TOSA program is compiled here.
#include <headrace/lowering/lower_definition.hpp>
