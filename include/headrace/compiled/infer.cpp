// SPDX-License-Identifier: MIT
// The inference rules of all standard ops, and what they share, are compiled here.
#include <headrace/infer/compiled_rules_definition.hpp>
#include <headrace/infer/executorch.hpp>
#include <headrace/infer/executorch_definition.hpp>
#include <headrace/infer/inference.hpp>
#include <headrace/infer/inference_definition.hpp>
#include <headrace/infer/preconditions.hpp>
#include <headrace/infer/preconditions_definition.hpp>
#include <headrace/infer/ranges/integer_width.hpp>
#include <headrace/infer/ranges/integer_width_definition.hpp>
#include <headrace/infer/ranges/range_rules.hpp>
#include <headrace/infer/ranges/range_rules_definition.hpp>
#include <headrace/infer/ranges/value_ranges.hpp>
#include <headrace/infer/ranges/value_ranges_definition.hpp>
#include <headrace/infer/shape_builder.hpp>
#include <headrace/infer/shape_builder_definition.hpp>
#include <headrace/infer/verify.hpp>
#include <headrace/infer/verify_definition.hpp>
#include <headrace/infer/window.hpp>
#include <headrace/infer/window_definition.hpp>
