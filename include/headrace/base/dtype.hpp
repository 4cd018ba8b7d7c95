// SPDX-License-Identifier: MIT
// Defines headrace::dtype, the element types of tensors, and their traits.
#ifndef HEADRACE_BASE_DTYPE_HPP
#define HEADRACE_BASE_DTYPE_HPP

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace headrace {

/// The element type of a tensor: those of PyTorch (`torch.export` schema, ScalarType) and of TOSA (1.0,
/// section 1.9). `shape` is TOSA's type of shape operands. The order has no meaning, but it is stable,
/// because hashes depend on it.
enum class dtype : std::uint8_t {
    unknown,
    boolean,
    int4,
    int8,
    int16,
    int32,
    int48,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
    float8_e4m3,
    float8_e5m2,
    bfloat16,
    float16,
    float32,
    float64,
    complex32,
    complex64,
    complex128,
    shape
};

inline constexpr std::size_t dtype_count = static_cast<std::size_t>(dtype::shape) + 1;

/// The category of a dtype in PyTorch's type promotion, in ascending order.
enum class dtype_category : std::uint8_t { none, boolean, integral, floating, complex };

struct dtype_traits {
    std::string_view name;
    dtype_category category;
    std::uint8_t bits;  ///< bits of an element as TOSA stores it: two INT4 share a byte, INT48 takes six
};

inline constexpr dtype_traits dtype_table[dtype_count] = {{"unknown", dtype_category::none, 0},
    {"bool", dtype_category::boolean, 8}, {"int4", dtype_category::integral, 4},
    {"int8", dtype_category::integral, 8}, {"int16", dtype_category::integral, 16},
    {"int32", dtype_category::integral, 32}, {"int48", dtype_category::integral, 48},
    {"int64", dtype_category::integral, 64}, {"uint8", dtype_category::integral, 8},
    {"uint16", dtype_category::integral, 16}, {"uint32", dtype_category::integral, 32},
    {"uint64", dtype_category::integral, 64}, {"float8_e4m3", dtype_category::floating, 8},
    {"float8_e5m2", dtype_category::floating, 8}, {"bfloat16", dtype_category::floating, 16},
    {"float16", dtype_category::floating, 16}, {"float32", dtype_category::floating, 32},
    {"float64", dtype_category::floating, 64}, {"complex32", dtype_category::complex, 32},
    {"complex64", dtype_category::complex, 64}, {"complex128", dtype_category::complex, 128},
    {"shape", dtype_category::none, 64}};

[[nodiscard]] constexpr const dtype_traits& traits_of(dtype t) {
    const auto index = static_cast<std::size_t>(t);
    return dtype_table[index < dtype_count ? index : 0];
}

[[nodiscard]] constexpr std::string_view name_of(dtype t) { return traits_of(t).name; }
[[nodiscard]] constexpr bool is_floating(dtype t) {
    return traits_of(t).category == dtype_category::floating;
}
[[nodiscard]] constexpr bool is_integral(dtype t) {
    return traits_of(t).category == dtype_category::integral;
}
[[nodiscard]] constexpr bool is_signed_integral(dtype t) { return t >= dtype::int4 && t <= dtype::int64; }
[[nodiscard]] constexpr bool is_boolean(dtype t) { return t == dtype::boolean; }
[[nodiscard]] constexpr bool is_complex(dtype t) { return traits_of(t).category == dtype_category::complex; }

/// Returns the bytes that `elements` elements of `t` take in TOSA's storage. The number of bits need not fit
/// in 64 bits; the number of bytes must.
[[nodiscard]] constexpr std::uint64_t storage_bytes(dtype t, std::uint64_t elements) {
    const std::uint64_t bits = traits_of(t).bits;
    return elements / 8 * bits + (elements % 8 * bits + 7) / 8;
}

}  // namespace headrace

#endif
