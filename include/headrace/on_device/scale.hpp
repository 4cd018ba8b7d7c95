// SPDX-License-Identifier: MIT
// Defines headrace::on_device::channel, the RESCALE of an output channel as kernels compute it.
#ifndef HEADRACE_ON_DEVICE_SCALE_HPP
#define HEADRACE_ON_DEVICE_SCALE_HPP

#include <cstdint>

#include <headrace/on_device/core.hpp>

namespace headrace::on_device {

/// How a sum becomes an element of the output (TOSA 1.0, 2.12.2 RESCALE).
enum class scaling : std::uint8_t {
    none,       ///< the sum is the result
    high_word,  ///< single rounding and a shift of 33 or more: the high word of the product decides
    wide,       ///< the product has 64 bits
};

/// A bias, with what the zero points add to a sum, and a scale. `addend` is what is added before the shift: for
/// `high_word` the rounding bit and the output's zero point, both shifted left; for `wide` the zero point alone.
struct channel {
    std::int32_t bias, multiplier, addend, shift;
};

/// For results that are not scaled.
struct as_it_is {
    static constexpr auto of(auto v) { return v; }
};

}  // namespace headrace::on_device

#endif
