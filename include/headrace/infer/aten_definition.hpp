// SPDX-License-Identifier: MIT
// Defines the shape and dtype rules of all ops of aten.
#ifndef HEADRACE_INFER_ATEN_DEFINITION_HPP
#define HEADRACE_INFER_ATEN_DEFINITION_HPP

#include <headrace/infer/aten/arithmetic.hpp>
#include <headrace/infer/aten/attention.hpp>
#include <headrace/infer/aten/blocks.hpp>
#include <headrace/infer/aten/composite.hpp>
#include <headrace/infer/aten/convolution.hpp>
#include <headrace/infer/aten/creation.hpp>
#include <headrace/infer/aten/diagonal.hpp>
#include <headrace/infer/aten/distance.hpp>
#include <headrace/infer/aten/einsum.hpp>
#include <headrace/infer/aten/elementwise.hpp>
#include <headrace/infer/aten/fourier.hpp>
#include <headrace/infer/aten/index.hpp>
#include <headrace/infer/aten/join.hpp>
#include <headrace/infer/aten/loss.hpp>
#include <headrace/infer/aten/matrix.hpp>
#include <headrace/infer/aten/norm.hpp>
#include <headrace/infer/aten/pad.hpp>
#include <headrace/infer/aten/quantile.hpp>
#include <headrace/infer/aten/rearrange.hpp>
#include <headrace/infer/aten/recurrent.hpp>
#include <headrace/infer/aten/reduction.hpp>
#include <headrace/infer/aten/repeat.hpp>
#include <headrace/infer/aten/resize.hpp>
#include <headrace/infer/aten/search.hpp>
#include <headrace/infer/aten/split.hpp>
#include <headrace/infer/aten/view.hpp>

#endif
