// SPDX-License-Identifier: MIT
// Declares headrace::firmware::constant_floats, which reads constants of all types that a board takes as
// floats.
#ifndef HEADRACE_FIRMWARE_CONSTANT_FLOATS_HPP
#define HEADRACE_FIRMWARE_CONSTANT_FLOATS_HPP

#include <optional>
#include <vector>

#include <headrace/ir/graph.hpp>
#include <headrace/on_device/small_float.hpp>
#include <headrace/passes/support/constants.hpp>

namespace headrace::firmware {

/// Numbers of float32, float16 or bfloat16 in row-major order; nothing for other types.
[[nodiscard]] std::optional<std::vector<float>> floats_of(const tensor_data& data, const tensor_meta& meta);

/// The elements of such a constant; nothing if the value is computed.
[[nodiscard]] std::optional<std::vector<float>> constant_floats(value v);

}  // namespace headrace::firmware

#endif
