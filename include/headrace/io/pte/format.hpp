// SPDX-License-Identifier: MIT
// Defines what the writer and the reader of .pte files share: element types, and the header before segments.
#ifndef HEADRACE_IO_PTE_FORMAT_HPP
#define HEADRACE_IO_PTE_FORMAT_HPP

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include <headrace/base/dtype.hpp>
#include <headrace/op/op.hpp>

namespace headrace::pte {

/// PyTorch's numbers for element types (c10/core/ScalarType.h), which files use.
inline constexpr std::pair<dtype, std::int8_t> scalar_types[] = {{dtype::uint8, 0}, {dtype::int8, 1},
    {dtype::int16, 2}, {dtype::int32, 3}, {dtype::int64, 4}, {dtype::float16, 5}, {dtype::float32, 6},
    {dtype::float64, 7}, {dtype::boolean, 11}, {dtype::bfloat16, 15}, {dtype::float8_e5m2, 23},
    {dtype::float8_e4m3, 24}, {dtype::uint16, 27}, {dtype::uint32, 28}, {dtype::uint64, 29}};

[[nodiscard]] constexpr std::optional<std::int8_t> scalar_type_of(dtype t) {
    for (const auto& [type, number] : scalar_types) {
        if (type == t) return number;
    }
    return std::nullopt;
}
/// Returns `dtype::unknown` for types that Headrace does not have.
[[nodiscard]] constexpr dtype dtype_of(std::int8_t scalar_type) {
    for (const auto& [type, number] : scalar_types) {
        if (number == scalar_type) return type;
    }
    return dtype::unknown;
}

/// True for a dtype that the result tells, so that the kernel's schema has no argument for it.
[[nodiscard]] constexpr bool is_left_out(const op_info& op, const field_info& f) {
    constexpr std::string_view typed_by_result[] = {"aten::_to_copy.out", "aten::full.out",
        "aten::arange.start_out", "aten::rand.out", "aten::randn.out"};
    if (f.kind != field_kind::element_type) return false;
    return std::ranges::find(typed_by_result, op.name) != std::end(typed_by_result);
}

/// The kernel that writes a state.
inline constexpr std::string_view copy_name = "aten::copy_";

inline constexpr std::size_t max_rank = 16;
inline constexpr std::size_t constant_alignment = 16;
inline constexpr std::size_t segment_alignment = 128;

/// Returns the first offset at or after `bytes` at which a segment can begin.
[[nodiscard]] constexpr std::uint64_t next_segment(
    std::uint64_t bytes, std::uint64_t alignment = segment_alignment) {
    return (bytes + alignment - 1) / alignment * alignment;
}

/// The header between the flatbuffer's identifier and its rest, in a file with segments. Numbers are
/// little-endian.
struct extended_header {
    static constexpr std::size_t at = 8;      ///< its offset in the file
    static constexpr std::size_t bytes = 32;  ///< a multiple of every alignment in the flatbuffer
    static constexpr std::array<char, 4> magic{'e', 'h', '0', '0'};

    std::uint64_t program_bytes = 0;  ///< of the flatbuffer, this header included
    std::uint64_t segment_base = 0;   ///< base of the segments' offsets
    std::uint64_t segment_bytes = 0;
};

/// True if the vector exists and its numbers are aligned. Verifiers check only the position of its length,
/// which needs less alignment than wide numbers.
template <class Vector>
[[nodiscard]] bool is_readable(const Vector* v) {
    if (v == nullptr || v->size() == 0) return v != nullptr;
    return reinterpret_cast<std::uintptr_t>(v->data()) % sizeof(v->Get(0)) == 0;
}

template <class Number>
void put_little_endian(Number n, std::span<std::byte> to) {
    for (std::size_t i = 0; i != sizeof(Number); ++i) to[i] = static_cast<std::byte>(n >> (8 * i));
}
template <class Number>
[[nodiscard]] Number get_little_endian(std::span<const std::byte> from) {
    Number n = 0;
    for (std::size_t i = sizeof(Number); i-- != 0;)
        n = static_cast<Number>(n << 8 | std::to_integer<Number>(from[i]));
    return n;
}

}  // namespace headrace::pte

#endif
