// SPDX-License-Identifier: MIT
// What programs for other dialects share is compiled here.
#include <headrace/lowering/opt_main_definition.hpp>
