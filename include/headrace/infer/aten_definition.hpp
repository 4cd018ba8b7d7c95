// SPDX-License-Identifier: MIT
// Defines the shape and dtype rules of all ops of aten.
#ifndef HEADRACE_INFER_ATEN_DEFINITION_HPP
#define HEADRACE_INFER_ATEN_DEFINITION_HPP

#include <headrace/infer/aten_blocks.hpp>
#include <headrace/infer/aten_composite.hpp>
#include <headrace/infer/aten_convolution.hpp>
#include <headrace/infer/aten_creation.hpp>
#include <headrace/infer/aten_distance.hpp>
#include <headrace/infer/aten_einsum.hpp>
#include <headrace/infer/aten_elementwise.hpp>
#include <headrace/infer/aten_index.hpp>
#include <headrace/infer/aten_join.hpp>
#include <headrace/infer/aten_loss.hpp>
#include <headrace/infer/aten_matrix.hpp>
#include <headrace/infer/aten_norm.hpp>
#include <headrace/infer/aten_quantile.hpp>
#include <headrace/infer/aten_reduction.hpp>
#include <headrace/infer/aten_resize.hpp>
#include <headrace/infer/aten_search.hpp>
#include <headrace/infer/aten_view.hpp>

#endif
