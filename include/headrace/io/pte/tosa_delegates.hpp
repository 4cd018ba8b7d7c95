// SPDX-License-Identifier: MIT
// Declares headrace::restore_tosa, which restores the TOSA flatbuffer of a delegate in a .pte file, and how
// the writer stores it.
#ifndef HEADRACE_IO_PTE_TOSA_DELEGATES_HPP
#define HEADRACE_IO_PTE_TOSA_DELEGATES_HPP

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <headrace/base/result.hpp>

namespace headrace {

/// The backend's name in the runtime. Its delegates are TOSA flatbuffers.
inline constexpr std::string_view tosa_backend_id = "tosa";

namespace pte {

/// The name by which backends request the segment of the constants from the runtime.
inline constexpr std::string_view shared_constants_key = "headrace.constants";

struct constant_place {
    std::uint64_t offset = 0;  ///< in the segment of the constants
    std::uint64_t size = 0;
};

[[nodiscard]] result<std::vector<std::byte>> make_tosa_blob(std::span<const std::byte> delegate,
    std::span<const std::span<const std::byte>> constants, std::span<const constant_place> places);

}  // namespace pte

/// Returns the largest flatbuffer that a file of that size may claim to hold. Zeros are packed and equal
/// constants are stored once, so a flatbuffer can be larger than its file, but only within this limit.
[[nodiscard]] std::uint64_t largest_restored(std::uint64_t file_bytes);

/// Returns the flatbuffer that a delegate of "tosa" was made from, byte for byte, given the segment of the
/// constants. The bytes may be untrusted: the result is that flatbuffer, of at most `largest` bytes, or an
/// error.
[[nodiscard]] result<std::vector<std::byte>> restore_tosa(
    std::span<const std::byte> blob, std::span<const std::byte> constants, std::uint64_t largest);

}  // namespace headrace

#endif
