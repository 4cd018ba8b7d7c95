// SPDX-License-Identifier: MIT
// Quantization by samples from files is compiled here.
#include <headrace/lowering/quantize_model_definition.hpp>
