// SPDX-License-Identifier: MIT
// Includes the kernels of all ATen ops that evaluation knows.
#ifndef HEADRACE_EVAL_ATEN_HPP
#define HEADRACE_EVAL_ATEN_HPP

#include <headrace/eval/aten_activation.hpp>
#include <headrace/eval/aten_binary.hpp>
#include <headrace/eval/aten_blocks.hpp>
#include <headrace/eval/aten_composite.hpp>
#include <headrace/eval/aten_conv.hpp>
#include <headrace/eval/aten_create.hpp>
#include <headrace/eval/aten_index.hpp>
#include <headrace/eval/aten_index_tensor.hpp>
#include <headrace/eval/aten_join.hpp>
#include <headrace/eval/aten_logic.hpp>
#include <headrace/eval/aten_matmul.hpp>
#include <headrace/eval/aten_norm.hpp>
#include <headrace/eval/aten_pool.hpp>
#include <headrace/eval/aten_recurrent.hpp>
#include <headrace/eval/aten_reduce.hpp>
#include <headrace/eval/aten_resize.hpp>
#include <headrace/eval/aten_softmax.hpp>
#include <headrace/eval/aten_unary.hpp>
#include <headrace/eval/aten_view.hpp>

#endif
