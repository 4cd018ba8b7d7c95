// SPDX-License-Identifier: MIT
// Declares how fake quantization is read, as quantize and dequantize.
#ifndef HEADRACE_IO_PT2_READING_FAKE_QUANTIZE_HPP
#define HEADRACE_IO_PT2_READING_FAKE_QUANTIZE_HPP

#include <string_view>

#include <headrace/io/pt2/constant_truth.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace::pt2 {

/// True for the name of an ATen fake quantization, which rounds real numbers to multiples of a scale:
/// aten.fake_quantize_per_tensor_affine, fake_quantize_per_channel_affine, and what
/// exported.run_decompositions() makes of them.
[[nodiscard]] bool is_fake_quantization(std::string_view op_name);

/// Adds a quantize and a dequantize with the parameters of a fake quantization, and returns their result.
/// Both compute the same numbers to the last bit (aten/src/ATen/native/cpu/FakeQuantizeCore.cpp), and passes
/// know the pair. `truth` tells whether a switch is on; it may be null. The node gets an unread_reason: for
/// its mask, or, if the result is null, for all that it computes.
[[nodiscard]] value read_fake_quantization(graph& g, node& n, constant_truth truth);

/// Erases the nodes of fake quantization whose results nothing reads, also in nested graphs.
void erase_fake_quantization(graph& g);

/// Returns why a program with an op of that name cannot be read, and what to do: it observes ranges while it
/// runs, as in training. Returns an empty text for other ops.
[[nodiscard]] std::string_view observing_reason(std::string_view op_name);

}  // namespace headrace::pt2

#endif
