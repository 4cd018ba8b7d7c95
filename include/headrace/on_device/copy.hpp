// SPDX-License-Identifier: MIT
// Defines headrace::on_device::detail::copy_bytes, which copies a few bytes.
#ifndef HEADRACE_ON_DEVICE_COPY_HPP
#define HEADRACE_ON_DEVICE_COPY_HPP

#include <cstdint>
#include <cstring>

#include <headrace/on_device/core.hpp>

namespace headrace::on_device::detail {

/// Copies n bytes by words, of which the last may overlap the one before, or by bytes if they are fewer;
/// returns the end. A call of memcpy costs more for a few bytes, and small libraries copy by bytes.
HEADRACE_INLINE std::int8_t* copy_bytes(std::int8_t* to, const std::int8_t* from, std::int32_t n) {
    std::int8_t* const end = to + n;
    if (n >= 4) {
        const std::int8_t* const last = from + (n - 4);
        for (; from < last; to += 4, from += 4) {
            asm("" : "+r"(from));  // g++ would have a second loop for rows that do not overlap
            std::memcpy(to, from, 4);
        }
        std::memcpy(end - 4, last, 4);
    } else {
        for (; n != 0; --n) *to++ = *from++;
    }
    return end;
}

}  // namespace headrace::on_device::detail

#endif
