// SPDX-License-Identifier: MIT
#include <headrace/lowering/lower_package_definition.hpp>
