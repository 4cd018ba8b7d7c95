// SPDX-License-Identifier: MIT
// Defines the functions of headrace/firmware/constant_floats.hpp.

#include <headrace/firmware/constant_floats.hpp>

#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

namespace headrace::firmware {

std::optional<std::vector<float>> floats_of(const tensor_data& data, const tensor_meta& meta) {
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

std::optional<std::vector<float>> constant_floats(value v) {
    const auto* const constant = match<builtin::constant>(v);
    if (constant == nullptr || meta_of(v) == nullptr) return std::nullopt;
    return floats_of(constant->data, *meta_of(v));
}

}  // namespace headrace::firmware
