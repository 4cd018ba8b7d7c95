// SPDX-License-Identifier: MIT
// Includes the kernels of all ATen ops that evaluation knows.
#ifndef HEADRACE_EVAL_ATEN_HPP
#define HEADRACE_EVAL_ATEN_HPP

#include <headrace/eval/aten/activation.hpp>
#include <headrace/eval/aten/binary.hpp>
#include <headrace/eval/aten/blocks.hpp>
#include <headrace/eval/aten/composite.hpp>
#include <headrace/eval/aten/conv.hpp>
#include <headrace/eval/aten/create.hpp>
#include <headrace/eval/aten/index.hpp>
#include <headrace/eval/aten/index_tensor.hpp>
#include <headrace/eval/aten/join.hpp>
#include <headrace/eval/aten/logic.hpp>
#include <headrace/eval/aten/matmul.hpp>
#include <headrace/eval/aten/norm.hpp>
#include <headrace/eval/aten/pool.hpp>
#include <headrace/eval/aten/recurrent.hpp>
#include <headrace/eval/aten/reduce.hpp>
#include <headrace/eval/aten/resize.hpp>
#include <headrace/eval/aten/softmax.hpp>
#include <headrace/eval/aten/unary.hpp>
#include <headrace/eval/aten/view.hpp>

#endif
