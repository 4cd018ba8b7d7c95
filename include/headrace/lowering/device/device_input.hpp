// SPDX-License-Identifier: MIT
// Declares headrace::device_input, which says how the integers of a camera or microphone stand for the
// numbers that a model takes.
#ifndef HEADRACE_LOWERING_DEVICE_DEVICE_INPUT_HPP
#define HEADRACE_LOWERING_DEVICE_DEVICE_INPUT_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <headrace/base/dtype.hpp>
#include <headrace/base/result.hpp>

namespace headrace {

/// The number of an integer q is `factors[c] * q + offsets[c]`, for each channel c, or for all if the
/// lists have one element. Both lists have the same size.
struct device_input {
    std::string name;    ///< of the model's input
    std::string spec{};  ///< what follows NAME= in the text that it was parsed from
    dtype type = dtype::uint8;
    std::vector<double> factors{1.0};
    std::vector<double> offsets{0.0};
    std::optional<std::int64_t> axis{};  ///< of the channels; absent: 1
};

/// Parses `NAME=DTYPE`, followed by any of `*NUMBERS`, `/NUMBERS`, `+NUMBERS` and `-NUMBERS`, which are
/// applied from left to right, and `@AXIS`. DTYPE is uint8, int8 or int16; NUMBERS is a number or a list
/// of them in brackets, one for each channel. An error says at which position the text is wrong.
[[nodiscard]] result<device_input> parse_device_input(std::string_view text);

}  // namespace headrace

#endif
