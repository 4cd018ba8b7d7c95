// SPDX-License-Identifier: MIT
// Declares headrace::normalized_input_at, which reads how a model computes numbers from an input of integers.
#ifndef HEADRACE_LOWERING_DEVICE_NORMALIZED_INPUT_HPP
#define HEADRACE_LOWERING_DEVICE_NORMALIZED_INPUT_HPP

#include <optional>

#include <headrace/ir/graph.hpp>
#include <headrace/lowering/device/device_input.hpp>

namespace headrace {

/// The numbers that a model computes from the integers of an input.
struct normalized_input {
    device_input device;
    value numbers;  ///< the last value that is `factors[c] * q + offsets[c]`
};

/// Follows a cast to float32 and products, quotients, sums and differences with constants of one element, or
/// of one for each channel, as long as nothing else reads the values between. Nothing if the input is not
/// uint8, int8 or int16, or is not cast.
[[nodiscard]] std::optional<normalized_input> normalized_input_at(const node& input);

}  // namespace headrace

#endif
