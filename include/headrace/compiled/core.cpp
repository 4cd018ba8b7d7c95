// SPDX-License-Identifier: MIT
// The graph, its drivers, memory plans and files are compiled here.
#include <headrace/base/printable_definition.hpp>
#include <headrace/base/text_definition.hpp>
#include <headrace/fx/dispatch_cache_definition.hpp>
#include <headrace/ir/arena_definition.hpp>
#include <headrace/ir/census_definition.hpp>
#include <headrace/ir/dead_code_definition.hpp>
#include <headrace/ir/edits_definition.hpp>
#include <headrace/ir/graph_definition.hpp>
#include <headrace/ir/listing_definition.hpp>
#include <headrace/ir/meta_table_definition.hpp>
#include <headrace/ir/meta_text_definition.hpp>
#include <headrace/ir/source_location_definition.hpp>
#include <headrace/ir/topological_order_definition.hpp>
#include <headrace/memory/liveness_definition.hpp>
#include <headrace/memory/memory_order_definition.hpp>
#include <headrace/memory/memory_plan_definition.hpp>
#include <headrace/memory/order_problem_definition.hpp>
#include <headrace/memory/order_solver_definition.hpp>
#include <headrace/pass/driver_definition.hpp>
#include <headrace/pass/emit_definition.hpp>
#include <headrace/pass/pass_context_definition.hpp>
#include <headrace/pass/pipeline_run_definition.hpp>
