// SPDX-License-Identifier: MIT
// Defines headrace::device_numbers, the annotation of an input that takes the integers of a device.
#ifndef HEADRACE_IO_SIGNATURE_DEVICE_NUMBERS_HPP
#define HEADRACE_IO_SIGNATURE_DEVICE_NUMBERS_HPP

#include <cstdint>

#include <headrace/base/lists.hpp>

namespace headrace {

/// Annotation of a placeholder whose user provides a device's integers, and nothing is quantized: an integer
/// q of channel c stands for the number `factors[c] * q + offsets[c]`. Lists of one element hold for all
/// channels.
struct device_numbers {
    static constexpr bool inherited = false;
    list<double> factors;
    list<double> offsets;
    std::int64_t axis = 0;  ///< of the channels
};

}  // namespace headrace

#endif
