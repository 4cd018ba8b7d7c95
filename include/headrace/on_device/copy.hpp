// SPDX-License-Identifier: MIT
// Defines headrace::on_device::detail::copy_bytes, which copies a few bytes.
#ifndef HEADRACE_ON_DEVICE_COPY_HPP
#define HEADRACE_ON_DEVICE_COPY_HPP

#include <cstdint>
#include <cstring>

#include <headrace/on_device/core.hpp>

namespace headrace::on_device::detail {

/// Copies n bytes by words, and the rest by bytes; returns the end. A call of memcpy costs more for a few
/// bytes, and small libraries copy by bytes.
HEADRACE_INLINE std::int8_t* copy_bytes(std::int8_t* to, const std::int8_t* from, std::int32_t n) {
    for (; n >= 4; n -= 4, to += 4, from += 4) std::memcpy(to, from, 4);
    for (; n != 0; --n) *to++ = *from++;
    return to;
}

}  // namespace headrace::on_device::detail

#endif
