// SPDX-License-Identifier: MIT
// Declares what a program on one of QEMU's boards can do: print, end, count instructions and measure its
// stack.
#ifndef HEADRACE_TESTS_ON_DEVICE_BOARD_HPP
#define HEADRACE_TESTS_ON_DEVICE_BOARD_HPP

#include <cstddef>
#include <cstdint>

namespace board {
void print(const char*);
void print(std::int64_t);
[[noreturn]] void quit(int status);

/// A file on the host, which is written anew; -1 if that is impossible.
int open_file(const char* path);
void write_file(int file, const void* bytes, std::size_t count);
void close_file(int file);

// A tick of the system timer is 40 instructions (31.25 on mps3-an547), as QEMU executes one each nanosecond
// by -icount shift=0. The timer has 24 bits: up to 671 million instructions.
#if defined(__ARM_FEATURE_MVE)
inline constexpr std::uint32_t instructions_in_100_ticks = 3125;
#else
inline constexpr std::uint32_t instructions_in_100_ticks = 4000;
#endif
void start_ticks();
std::uint32_t ticks();

void paint_stack();
/// Bytes since the stack was painted.
std::uint32_t stack_used();

/// Instructions of one call, of `calls`.
template <class F>
std::int64_t instructions(F f, std::uint32_t calls = 1) {
    start_ticks();
    const std::uint32_t before = ticks();
    for (std::uint32_t i = 0; i != calls; ++i) f();
    return std::int64_t{ticks() - before} * instructions_in_100_ticks / 100 / calls;
}
}  // namespace board

#endif
