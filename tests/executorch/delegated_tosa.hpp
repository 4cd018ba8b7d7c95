// SPDX-License-Identifier: MIT
// Declares the functions of Headrace that the runner uses. ExecuTorch's headers conflict with other versions
// of FlatBuffers' headers, so that no translation unit can include both.
#ifndef HEADRACE_TESTS_EXECUTORCH_DELEGATED_TOSA_HPP
#define HEADRACE_TESTS_EXECUTORCH_DELEGATED_TOSA_HPP

#include <cstddef>
#include <span>
#include <string>
#include <vector>

struct delegated_tosa {
    std::vector<std::byte> flatbuffer;
    std::size_t inputs = 0;
    std::string fault;  ///< empty, or the reason why there is no flatbuffer
};

/// Returns the flatbuffer of a delegate from the blob that the runtime passes to its backend.
[[nodiscard]] delegated_tosa restore_delegate(
    std::span<const std::byte> blob, std::span<const std::byte> constants);

extern const char* const tosa_backend_name;
extern const char* const tosa_constants_key;

#endif
