// SPDX-License-Identifier: MIT
// The readers of all formats are compiled here.
#include <headrace/io/package_definition.hpp>
#include <headrace/io/pt2_definition.hpp>
#include <headrace/lowering/models_definition.hpp>
