// SPDX-License-Identifier: MIT
// The pipeline to ExecuTorch is proven here; its passes are compiled in passes_*.cpp.
#include <headrace/lowering/executorch_pipeline_definition.hpp>
