// SPDX-License-Identifier: MIT
// What the firmware and its board ask of each other.
#ifndef HEADRACE_EXAMPLES_FIRMWARE_BOARD_HPP
#define HEADRACE_EXAMPLES_FIRMWARE_BOARD_HPP

#include <cstddef>

namespace firmware {

/// The program that the board starts; its result is the exit status.
[[nodiscard]] int run();

void print(const char* text);  ///< to the debugger
/// The largest depth of the stack so far; 0 if it is unknown.
[[nodiscard]] std::size_t stack_bytes();

}  // namespace firmware

#endif
