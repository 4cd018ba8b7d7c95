// SPDX-License-Identifier: MIT
// Defines headrace::firmware::constant_floats, which reads constants of all types that a board takes as
// floats.
#ifndef HEADRACE_FIRMWARE_CONSTANT_FLOATS_HPP
#define HEADRACE_FIRMWARE_CONSTANT_FLOATS_HPP

#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include <headrace/ir/graph.hpp>
#include <headrace/on_device/small_float.hpp>
#include <headrace/passes/support/constants.hpp>

namespace headrace::firmware {

/// Numbers of float32, float16 or bfloat16 in row-major order; nothing for other types.
[[nodiscard]] inline std::optional<std::vector<float>> floats_of(
    const tensor_data& data, const tensor_meta& meta) {
    std::vector<float> numbers;
    const auto read_all = [&]<class Bits>(Bits bits, auto to_float) {
        numbers.reserve(static_cast<std::size_t>(meta.elements()));
        for_each_element(data, meta, [&](const std::byte* at) {
            std::memcpy(&bits, at, sizeof bits);
            numbers.push_back(to_float(bits));
        });
        return numbers;
    };
    switch (meta.dtype) {
        case dtype::float32:
            return read_all(std::uint32_t{}, [](std::uint32_t bits) { return std::bit_cast<float>(bits); });
        case dtype::float16:
            return read_all(std::uint16_t{}, &on_device::half_float::of_bits);
        case dtype::bfloat16:
            return read_all(std::uint16_t{}, &on_device::brain_float::of_bits);
        default:
            return std::nullopt;
    }
}

/// The elements of such a constant; nothing if the value is computed.
[[nodiscard]] inline std::optional<std::vector<float>> constant_floats(value v) {
    const auto* const constant = match<builtin::constant>(v);
    if (constant == nullptr || meta_of(v) == nullptr) return std::nullopt;
    return floats_of(constant->data, *meta_of(v));
}

}  // namespace headrace::firmware

#endif
