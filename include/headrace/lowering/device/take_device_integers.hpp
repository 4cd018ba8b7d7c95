// SPDX-License-Identifier: MIT
// Declares headrace::take_device_integers, which makes a program take the integers of cameras and
// microphones.
#ifndef HEADRACE_LOWERING_DEVICE_TAKE_DEVICE_INTEGERS_HPP
#define HEADRACE_LOWERING_DEVICE_TAKE_DEVICE_INTEGERS_HPP

#include <span>

#include <headrace/base/result.hpp>
#include <headrace/io/program.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/lowering/device/device_input.hpp>

namespace headrace {

/// Makes the inputs integers, from which the graph computes its former inputs: by a dequantize where the
/// model is quantized (`quantized`), else by a cast; by a depthwise convolution where channels differ.
/// Refuses names that are given twice or that the model does not have, and inputs that are not float32 or
/// have another number of channels.
[[nodiscard]] result<void> take_device_integers(
    program& p, std::span<const device_input> inputs, bool quantized);

/// Replaces the cast of an integer input and the products and sums with constants that follow it, which
/// normalize images, by a dequantize and what take_device_integers makes for channels: one rounding at most.
void fold_normalization(graph& g);

/// Replaces such a cast, products and sums by a dequantize where that is exact and only quantizes read them:
/// the lowering makes one RESCALE, or nothing.
void fold_quantized_normalization(graph& g);

}  // namespace headrace

#endif
