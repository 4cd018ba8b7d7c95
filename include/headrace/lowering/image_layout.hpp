// SPDX-License-Identifier: MIT
// Declares headrace::take_channels_last, which makes the images at a program's signature NHWC.
#ifndef HEADRACE_LOWERING_IMAGE_LAYOUT_HPP
#define HEADRACE_LOWERING_IMAGE_LAYOUT_HPP

#include <headrace/io/program.hpp>

namespace headrace {

/// Makes the user's inputs and outputs of rank 4 NHWC, and annotates them (ir/signature.hpp). A permute
/// follows such an input and precedes such an output; it moves integers where the program quantizes the input
/// or dequantizes the output, so that it is part of what is quantized. Buffers stay as they are.
void take_channels_last(program& p);

}  // namespace headrace

#endif
