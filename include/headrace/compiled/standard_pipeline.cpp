// SPDX-License-Identifier: MIT
// The standard pipeline is proven here; its passes are compiled in passes_*.cpp. The registry makes them.
#include <headrace/lowering/standard_pipeline_definition.hpp>
