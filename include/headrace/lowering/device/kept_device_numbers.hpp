// SPDX-License-Identifier: MIT
// Declares functions that keep the SPEC of a device's integers in a graph and in `.pt2` files.
#ifndef HEADRACE_LOWERING_DEVICE_KEPT_DEVICE_NUMBERS_HPP
#define HEADRACE_LOWERING_DEVICE_KEPT_DEVICE_NUMBERS_HPP

#include <headrace/ir/graph.hpp>
#include <headrace/lowering/device/device_input.hpp>

namespace headrace {

/// Annotates the input with its device_numbers, and gives the SPEC to the node that reads it as `custom`
/// metadata, which `.pt2` files keep.
void keep_device_numbers(graph& g, node& input, node& reader, const device_input& device);

/// Annotates inputs with the device_numbers of the SPEC that keep_device_numbers gave to their readers.
/// Metadata that is no such text, or does not fit the input, is ignored.
void restore_device_numbers(graph& g);

}  // namespace headrace

#endif
