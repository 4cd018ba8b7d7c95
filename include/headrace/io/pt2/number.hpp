// SPDX-License-Identifier: MIT
// Defines headrace::pt2::number_constant, the tensor for a Python number in the place of a tensor.
#ifndef HEADRACE_IO_PT2_NUMBER_HPP
#define HEADRACE_IO_PT2_NUMBER_HPP

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include <headrace/io/file/json.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace::pt2 {

/// Returns the bits of a float16. Rounds to nearest, ties to even.
[[nodiscard]] constexpr std::uint16_t half_bits(float number) {
    constexpr std::uint32_t too_large = 0x47800000U;  // 65536
    constexpr std::uint32_t infinity = 0x7f800000U;
    constexpr std::uint32_t smallest_normal = 0x38800000U;  // 2^-14
    const auto bits = std::bit_cast<std::uint32_t>(number);
    const auto sign = static_cast<std::uint16_t>((bits >> 16U) & 0x8000U);
    std::uint32_t x = bits & 0x7fffffffU;
    if (x >= too_large) return static_cast<std::uint16_t>(sign | (x > infinity ? 0x7e00U : 0x7c00U));
    if (x < smallest_normal) {
        // Adding 1/2 lets the floating-point unit shift and round: float16's subnormals end up in the low
        // bits.
        x = std::bit_cast<std::uint32_t>(std::bit_cast<float>(x) + 0.5F) - std::bit_cast<std::uint32_t>(0.5F);
        return static_cast<std::uint16_t>(sign | x);
    }
    constexpr std::uint32_t rebias = 0U - (112U << 23U);
    x += rebias + 0xfffU + ((x >> 13U) & 1U);
    return static_cast<std::uint16_t>(sign | (x >> 13U));
}

[[nodiscard]] constexpr std::uint16_t bfloat16_bits(float number) {
    const auto bits = std::bit_cast<std::uint32_t>(number);
    if (number != number) return 0x7fc0U;
    return static_cast<std::uint16_t>((bits + 0x7fffU + ((bits >> 16U) & 1U)) >> 16U);
}

template <class T>
void store(std::span<std::byte> to, T number) {
    std::memcpy(to.data(), &number, sizeof number);
}

/// Writes a number as one element of that type.
inline void store_number(std::span<std::byte> to, dtype type, const scalar& number) {
    const std::int64_t whole = number.to_int();
    const auto real = static_cast<float>(number.to_double());
    switch (type) {
        case dtype::boolean:
            return store(to, static_cast<std::uint8_t>(number.to_double() != 0));
        case dtype::int8:
        case dtype::uint8:
            return store(to, static_cast<std::uint8_t>(whole));
        case dtype::int16:
        case dtype::uint16:
            return store(to, static_cast<std::uint16_t>(whole));
        case dtype::int32:
        case dtype::uint32:
            return store(to, static_cast<std::uint32_t>(whole));
        case dtype::int64:
        case dtype::uint64:
            return store(to, whole);
        case dtype::float16:
            return store(to, half_bits(real));
        case dtype::bfloat16:
            return store(to, bfloat16_bits(real));
        case dtype::float32:
            return store(to, real);
        case dtype::float64:
            return store(to, number.to_double());
        default:
            fail_unsupported(
                "a Python number cannot be combined with a tensor of " + std::string(name_of(type)));
    }
}

/// Returns the type that PyTorch's promotion gives a Python number next to a tensor of type `beside`.
[[nodiscard]] inline dtype type_beside(const scalar& number, dtype beside) {
    const bool integral = number.kind() == scalar::kind_type::integral;
    const dtype own = number.is_floating() ? dtype::float32 : integral ? dtype::int64 : dtype::boolean;
    return traits_of(own).category <= traits_of(beside).category ? beside : own;
}

/// Makes a constant of a Python number: `x + 2` is add.Tensor(x, 2) in an exported graph. The 2 becomes a
/// constant without dimensions, of a type that does not change the result's type.
[[nodiscard]] inline value number_constant(graph& g, const scalar& number, dtype beside) {
    const dtype type = type_beside(number, beside);
    return create_constant(g, tensor_meta{type, {}, {}}, nullptr,
        [&](std::span<std::byte> data) { store_number(data, type, number); });
}

}  // namespace headrace::pt2

#endif
