// SPDX-License-Identifier: MIT
// Declares what the runner has of Headrace. ExecuTorch's headers do not go with FlatBuffers' of other
// versions, so that no unit can include both.
#ifndef HEADRACE_TESTS_EXECUTORCH_DELEGATED_TOSA_HPP
#define HEADRACE_TESTS_EXECUTORCH_DELEGATED_TOSA_HPP

#include <cstddef>
#include <span>
#include <string>
#include <vector>

struct delegated_tosa {
    std::vector<std::byte> flatbuffer;
    std::size_t inputs = 0;
    std::string fault;  ///< empty, or why there is no flatbuffer
};

/// The flatbuffer of a delegate, given what the runtime hands to its backend.
[[nodiscard]] delegated_tosa restore_delegate(std::span<const std::byte> blob,
                                              std::span<const std::byte> constants);

extern const char* const tosa_backend_name;
extern const char* const tosa_constants_key;

#endif
