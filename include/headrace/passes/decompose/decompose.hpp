// SPDX-License-Identifier: MIT
// Defines headrace::decompose_passes: from compound ATen ops to simple ones.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_HPP

#include <headrace/passes/decompose/decompose_layer_norm.hpp>

namespace headrace {

using decompose_passes = pass_list<decompose_layer_norm>;

}  // namespace headrace

#endif
