// SPDX-License-Identifier: MIT
#include <headrace/lowering/lower_definition.hpp>
