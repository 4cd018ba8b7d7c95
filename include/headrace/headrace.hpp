// SPDX-License-Identifier: MIT
// Includes the core of Headrace: operators and dialects, the graph, inference, passes, static pipelines.
//
// Left out is what costs as much again to compile and few files need:
//
//     headrace/passes/passes.hpp   the passes and the standard pipeline, three times the cost of this header
//     headrace/ir/algorithms.hpp   Boost.Graph's algorithms over graphs: order, dead code, contraction
//     headrace/infer/verify.hpp    the check of a whole graph; infer/tosa_verify.hpp, that of TOSA's profiles
//     headrace/op/hana.hpp         argument structs as Boost.Hana sees them
//     headrace/eval, headrace/io   execution, files and pictures, which have dependencies of their own
//
// Cheaper still are the headers of what a file needs: a pass wants headrace/op/aten.hpp, its inference and
// headrace/pass/pass.hpp.
#ifndef HEADRACE_HEADRACE_HPP
#define HEADRACE_HEADRACE_HPP

#include <headrace/infer/aten.hpp>
#include <headrace/infer/builtin.hpp>
#include <headrace/infer/cortex_m.hpp>
#include <headrace/infer/dim_order_ops.hpp>
#include <headrace/infer/higher_order.hpp>
#include <headrace/infer/quantized_decomposed.hpp>
#include <headrace/infer/tosa.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/ir/listing.hpp>
#include <headrace/op/aten.hpp>
#include <headrace/op/builtin.hpp>
#include <headrace/op/cortex_m.hpp>
#include <headrace/op/dim_order_ops.hpp>
#include <headrace/op/higher_order.hpp>
#include <headrace/op/op_set.hpp>
#include <headrace/op/quantized_decomposed.hpp>
#include <headrace/op/tosa.hpp>
#include <headrace/pass/algebra.hpp>
#include <headrace/pass/audit.hpp>
#include <headrace/pass/contract.hpp>
#include <headrace/pass/description.hpp>
#include <headrace/pass/pipeline.hpp>
#include <headrace/version.hpp>

#endif
