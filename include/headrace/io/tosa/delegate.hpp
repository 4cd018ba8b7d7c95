// SPDX-License-Identifier: MIT
// Declares headrace::split_tosa and headrace::join_tosa, which split a TOSA flatbuffer into its constants and
// the rest, and join these again.
#ifndef HEADRACE_IO_TOSA_DELEGATE_HPP
#define HEADRACE_IO_TOSA_DELEGATE_HPP

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <headrace/base/result.hpp>

namespace headrace {

/// A flatbuffer without the elements of its constants: `delegate` has their positions, `constants` view the
/// flatbuffer, in the order of their positions.
struct split_flatbuffer {
    std::vector<std::byte> delegate;
    std::vector<std::span<const std::byte>> constants;
};

namespace tosa_file {

// A delegate is: the mark; the flatbuffer's size; the number of constants that were cut out; for each of them
// the number of bytes that remain between it and the one before; then the remaining bytes, packed. Numbers
// have 7 bits per byte, the lowest first, and all bytes except the last have the top bit set.
inline constexpr std::string_view mark = "HRTOSA01";

void put_number(std::vector<std::byte>& out, std::uint64_t number);

/// Reads a delegate from its front. `failed` is set once something is missing.
struct cursor {
    std::span<const std::byte> left;
    bool failed = false;

    [[nodiscard]] unsigned byte();
    [[nodiscard]] std::uint64_t number();
};

// Returns the `size` bytes that were packed, or fewer if the input ends early.
std::vector<std::byte> unpack(cursor& at, std::size_t size);

}  // namespace tosa_file

/// Cuts the elements of all constants, and of variables' initial values, out of a TOSA flatbuffer. The rest
/// is small: zeros are packed.
[[nodiscard]] result<split_flatbuffer> split_tosa(std::span<const std::byte> file);

/// Returns the size in bytes that a delegate claims for its flatbuffer, which join_tosa never exceeds; 0 if
/// it is broken.
[[nodiscard]] std::uint64_t size_of_joined(std::span<const std::byte> delegate);

/// Returns the flatbuffer that split_tosa split, byte for byte, given its constants. The delegate may be
/// untrusted: the result is some bytes, no more than it and the constants account for, or an error.
[[nodiscard]] result<std::vector<std::byte>> join_tosa(
    std::span<const std::byte> delegate, std::span<const std::span<const std::byte>> constants);

}  // namespace headrace

#endif
