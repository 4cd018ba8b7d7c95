// SPDX-License-Identifier: MIT
// Defines headrace::memory_format and the other enumerations among arguments of PyTorch's and TOSA's ops.
#ifndef HEADRACE_OP_ENUMERATIONS_HPP
#define HEADRACE_OP_ENUMERATIONS_HPP

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace headrace {

/// PyTorch's memory formats (`torch.export` schema, MemoryFormat).
enum class memory_format : std::uint8_t { unknown, contiguous, channels_last, channels_last_3d, preserve };

/// Enumeration attributes of TOSA; the values are those of the TOSA 1.0 flatbuffer.
enum class resize_mode : std::uint8_t { unknown, nearest, bilinear };
enum class nan_mode : std::uint8_t { unknown, propagate, ignore };
enum class rounding_mode : std::uint8_t { unknown, single_round, inexact_round, double_round };

namespace detail {
template <class Enum, std::size_t N>
constexpr std::string_view enumerator_name(Enum e, const std::string_view (&names)[N]) {
    const auto index = static_cast<std::size_t>(e);
    return index < N ? names[index] : "?";
}
}  // namespace detail

[[nodiscard]] constexpr std::string_view name_of(memory_format f) {
    return detail::enumerator_name(
        f, {"unknown", "contiguous", "channels_last", "channels_last_3d", "preserve"});
}
[[nodiscard]] constexpr std::string_view name_of(resize_mode m) {
    return detail::enumerator_name(m, {"unknown", "nearest", "bilinear"});
}
[[nodiscard]] constexpr std::string_view name_of(nan_mode m) {
    return detail::enumerator_name(m, {"unknown", "propagate", "ignore"});
}
[[nodiscard]] constexpr std::string_view name_of(rounding_mode m) {
    return detail::enumerator_name(m, {"unknown", "single_round", "inexact_round", "double_round"});
}

}  // namespace headrace

#endif
