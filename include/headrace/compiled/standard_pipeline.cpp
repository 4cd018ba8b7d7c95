// SPDX-License-Identifier: MIT
// All standard passes are compiled here.
#include <headrace/lowering/standard_pipeline_definition.hpp>
