// SPDX-License-Identifier: MIT
// Includes the core of Headrace: operators and dialects, the graph, inference, passes, static pipelines.
//
// Left out is what few files need:
//
//     headrace/passes/passes.hpp         the passes and the standard pipeline: half the cost more for
//                                        programs that link headrace::passes, ten times the cost for others
//     headrace/ir/listing.hpp            graphs as text
//     headrace/ir/algorithms.hpp         Boost.Graph's algorithms over graphs: order, dead code
//     headrace/infer/verify.hpp          checks a whole graph; target/tosa_verify.hpp checks TOSA's profiles
//     headrace/fx                        what torch.fx has: interpreters, the subgraph matcher, the rewriter
//     headrace/op/hana.hpp               argument structs as Boost.Hana sees them
//     headrace/contract/contract.hpp     what a model demands of a machine, checked when firmware is compiled
//     headrace/infer/cortex_m.hpp        the kernels of ExecuTorch's Cortex-M backend as a dialect
//     headrace/eval, headrace/io         execution, files and pictures, which have dependencies of their own
//
// Cheaper still is to include only what a file needs: a pass wants headrace/dialect/aten.hpp, its inference
// and headrace/pass/pass.hpp.
#ifndef HEADRACE_HEADRACE_HPP
#define HEADRACE_HEADRACE_HPP

// First, so that the errors of its assertions name few headers that include it.
#include <headrace/pass/pipeline.hpp>

#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/builtin.hpp>
#include <headrace/dialect/dim_order_ops.hpp>
#include <headrace/dialect/higher_order.hpp>
#include <headrace/dialect/quantized_decomposed.hpp>
#include <headrace/dialect/tosa.hpp>
#include <headrace/infer/aten.hpp>
#include <headrace/infer/builtin.hpp>
#include <headrace/infer/dim_order_ops.hpp>
#include <headrace/infer/higher_order.hpp>
#include <headrace/infer/quantized_decomposed.hpp>
#include <headrace/infer/tosa.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/op/op_set.hpp>
#include <headrace/pass/algebra.hpp>
#include <headrace/pass/description.hpp>
#include <headrace/pass/emission_record.hpp>
#include <headrace/rewrite/arithmetic.hpp>
#include <headrace/version.hpp>

#endif
