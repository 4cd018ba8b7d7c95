// SPDX-License-Identifier: MIT
// The comparison of models is compiled here.
#include <headrace/lowering/compare_models_definition.hpp>
#include <headrace/lowering/comparison_report_definition.hpp>
#include <headrace/lowering/layer_runner_definition.hpp>
#include <headrace/lowering/layer_values_definition.hpp>
#include <headrace/lowering/match_layers_definition.hpp>
