// SPDX-License-Identifier: MIT
// Defines headrace::on_device::half_float and headrace::on_device::brain_float, floats of 16 bits in memory.
#ifndef HEADRACE_ON_DEVICE_SMALL_FLOAT_HPP
#define HEADRACE_ON_DEVICE_SMALL_FLOAT_HPP

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace headrace::on_device {

namespace detail {

// Integers alone, so that neither a rounding mode nor flushed subnormals change a result, and cores without a
// floating-point unit take a few instructions.

/// The nearest bfloat16 is the upper half of the bits, one more if the lower half rounds up. What is carried
/// out of the mantissa belongs to the exponent, up to infinity.
constexpr std::uint32_t bfloat16_bits(std::uint32_t bits) {
    if ((bits & 0x7fffffffU) > 0x7f800000U) return bits >> 16 | 0x40U;  // NaN stays one
    return (bits + 0x7fffU + (bits >> 16 & 1U)) >> 16;
}

constexpr std::uint32_t float16_bits(std::uint32_t bits) {
    constexpr std::uint32_t infinite = 0x7f800000U, too_large = 0x47800000U, least_normal = 0x38800000U;
    const std::uint32_t sign = bits >> 16 & 0x8000U, x = bits & 0x7fffffffU;
    if (x > infinite) return sign | 0x7e00U | (x >> 13 & 0x1ffU);
    if (x >= too_large) return sign | 0x7c00U;
    // The exponents' biases differ by 112.
    if (x >= least_normal) return sign | (x - (112U << 23) + 0xfffU + (x >> 13 & 1U)) >> 13;
    // A subnormal is a multiple of 2^-24. What is less than a half of it is 0.
    const std::uint32_t shift = 126 - (x >> 23), mantissa = (x & 0x7fffffU) | 0x800000U;
    if (shift > 24) return sign;
    return sign | (mantissa + (1U << (shift - 1)) - 1 + (mantissa >> shift & 1U)) >> shift;
}

constexpr std::uint32_t float_bits_of_float16(std::uint32_t bits) {
    const std::uint32_t sign = (bits & 0x8000U) << 16, x = bits & 0x7fffU;
    if (x >= 0x7c00U) return sign | 0x7f800000U | (x & 0x3ffU) << 13;
    if (x >= 0x400U) return sign | ((x << 13) + (112U << 23));
    if (x == 0) return sign;
    const auto zeros = static_cast<std::uint32_t>(std::countl_zero(x));
    return sign | (((133 - zeros) << 23) + (x << (zeros - 8)));
}

// Each floating-point unit of a Cortex-M converts float16 in one instruction.
#if defined(__ARM_FP) && defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M'
#define HEADRACE_CONVERTS_FLOAT16
[[gnu::always_inline]] inline float converted_float16(std::uint32_t bits) {
    float number;
    asm("vcvtb.f32.f16 %0, %1" : "=t"(number) : "t"(std::bit_cast<float>(bits)));
    return number;
}
[[gnu::always_inline]] inline std::uint32_t converted_float16(float number) {
    float bits;  // the upper half is what the register had
    asm("vcvtb.f16.f32 %0, %1" : "=t"(bits) : "t"(number));
    return std::bit_cast<std::uint32_t>(bits);
}
#endif

}  // namespace detail

/// An element of memory, which is a float where it is read. What is written is rounded to the nearest number,
/// the even one of two: `x = 0.1F; const float y = x;`. A half_float is binary16 of IEEE 754, a brain_float
/// the upper half of a float.
template <int MantissaBits>
class small_float {
    static_assert(MantissaBits == 10 || MantissaBits == 7);

public:
    constexpr small_float() = default;
    constexpr small_float(float number) : bits_(bits_of(number)) {}  // implicit, so that it is written as one

    constexpr operator float() const {
        const std::uint32_t bits = bits_;
        if constexpr (MantissaBits == 7) return std::bit_cast<float>(bits << 16);
#if defined(HEADRACE_CONVERTS_FLOAT16)
        if (!std::is_constant_evaluated()) return detail::converted_float16(bits);
#endif
        return std::bit_cast<float>(detail::float_bits_of_float16(bits));
    }

    static constexpr small_float of_bits(std::uint16_t bits) {
        small_float made;
        made.bits_ = bits;
        return made;
    }
    constexpr std::uint16_t bits() const { return bits_; }

private:
    static constexpr std::uint16_t bits_of(float number) {
#if defined(HEADRACE_CONVERTS_FLOAT16)
        if (MantissaBits == 10 && !std::is_constant_evaluated())
            return static_cast<std::uint16_t>(detail::converted_float16(number));
#endif
        const auto bits = std::bit_cast<std::uint32_t>(number);
        return static_cast<std::uint16_t>(
            MantissaBits == 7 ? detail::bfloat16_bits(bits) : detail::float16_bits(bits));
    }

    std::uint16_t bits_ = 0;
};
using half_float = small_float<10>;
using brain_float = small_float<7>;

template <std::size_t N>
struct constant_bits {
    std::uint16_t all[N];
};
/// Constants in flash.
template <class T, std::size_t N>
struct constant_array {
    T all[N];
    constexpr const T& operator[](std::size_t i) const { return all[i]; }
};
/// Makes constants of their bits: one cast of all, because compilers limit the steps of a constant
/// expression, and a large array would not have one for each of its elements.
template <class T, std::size_t N>
constexpr constant_array<T, N> constants_of(const constant_bits<N>& bits) {
    return std::bit_cast<constant_array<T, N>>(bits);
}

}  // namespace headrace::on_device

#endif
