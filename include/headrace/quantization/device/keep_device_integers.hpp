// SPDX-License-Identifier: MIT
// Declares headrace::device_integers and headrace::keep_device_integers.
#ifndef HEADRACE_QUANTIZATION_DEVICE_KEEP_DEVICE_INTEGERS_HPP
#define HEADRACE_QUANTIZATION_DEVICE_KEEP_DEVICE_INTEGERS_HPP

#include <headrace/quantization/quantization_groups.hpp>

namespace headrace {

/// Annotation of a dequantize_per_tensor whose integers a device delivers.
struct device_integers {
    static constexpr bool inherited = false;
};

/// Gives the parameters of a device's integers to a group of which all tensors are such numbers or rearranged
/// ones, so that nothing is rounded. A group of another width, or one that cannot have the zero point, is not
/// changed: samples give its parameters.
void keep_device_integers(const graph& g, quantization_groups& groups);

}  // namespace headrace

#endif
