// SPDX-License-Identifier: MIT
// Post-training quantization is compiled here.
#include <headrace/compiled/pass_codes.hpp>

#include <headrace/quantization/annotate_definition.hpp>
#include <headrace/quantization/convert_definition.hpp>
#include <headrace/quantization/correct_biases_definition.hpp>
#include <headrace/quantization/histogram_definition.hpp>
#include <headrace/quantization/mask_scores_definition.hpp>
#include <headrace/quantization/mix_precision_definition.hpp>
#include <headrace/quantization/observe_definition.hpp>
#include <headrace/quantization/relax_clamps_definition.hpp>
#include <headrace/quantization/search_quantization_definition.hpp>
#include <headrace/quantization/smooth_layers_definition.hpp>
