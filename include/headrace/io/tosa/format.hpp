// SPDX-License-Identifier: MIT
// Defines what the TOSA emitter and reader share: how a file is opened, the numbers of element types and
// operators, and the bytes of single elements.
#ifndef HEADRACE_IO_TOSA_FORMAT_HPP
#define HEADRACE_IO_TOSA_FORMAT_HPP

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include <headrace/base/float_format.hpp>
#include <headrace/base/result.hpp>
#include <headrace/base/text.hpp>
#include <headrace/dialect/tosa.hpp>
#include <headrace/io/tosa/tosa_generated.hpp>

namespace headrace::tosa_file {

static_assert(std::endian::native == std::endian::little, "tosa: constants are copied as they lie in memory");
static_assert(static_cast<std::size_t>(tosa_fb::Op::MAX) == tosa::dialect::size,
    "tosa: the dialect and the schema differ");

/// Element types of TOSA 1.0, at the index of their DType.
inline constexpr dtype element_types[] = {dtype::unknown, dtype::boolean, dtype::int4, dtype::int8,
    dtype::int16, dtype::int32, dtype::int48, dtype::float32, dtype::float16, dtype::bfloat16, dtype::shape,
    dtype::float8_e4m3, dtype::float8_e5m2};

[[nodiscard]] constexpr std::optional<std::uint32_t> number_of(dtype type) {
    for (std::uint32_t i = 1; i != std::size(element_types); ++i) {
        if (element_types[i] == type) return i;
    }
    return std::nullopt;
}
[[nodiscard]] constexpr dtype element_type(std::uint32_t number) {
    return number < std::size(element_types) ? element_types[number] : dtype::unknown;
}

/// Returns an operator's number. MLIR's serializer writes the variable operators as IDENTITY with their own
/// attribute.
[[nodiscard]] inline std::uint32_t number_of(const tosa_fb::TosaOperator& o) {
    const bool variable = o.attribute_type() == tosa_fb::Attribute::VariableReadAttribute ||
        o.attribute_type() == tosa_fb::Attribute::VariableWriteAttribute;
    return o.op() == tosa_fb::Op::IDENTITY && variable ? static_cast<std::uint32_t>(o.attribute_type())
                                                       : static_cast<std::uint32_t>(o.op());
}

/// Returns the graph of a TOSA 1.0 file, which must be aligned to 8 bytes, after verifying all its offsets.
/// The graph has a region.
[[nodiscard]] inline result<const tosa_fb::TosaGraph*> open_file(std::span<const std::byte> file) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(file.data());
    if (!tosa_fb::TosaGraphBufferHasIdentifier(bytes))
        return malformed("not a TOSA file: the identifier is missing");
    // A table that is not shared takes at least eight bytes with the offset to it; Headrace's share a
    // location.
    const auto max_tables = static_cast<flatbuffers::uoffset_t>(file.size() / 4);
    flatbuffers::Verifier verifier(bytes, file.size(), 64, max_tables);
    if (!tosa_fb::VerifyTosaGraphBuffer(verifier)) return malformed("malformed flatbuffer");
    const tosa_fb::TosaGraph* graph = tosa_fb::GetTosaGraph(bytes);
    const std::int32_t major = graph->version()->_major();
    if (major != 1) return unsupported({"the file is of TOSA version ", major, ", not of 1.0"});
    if (graph->regions() == nullptr || graph->regions()->size() == 0)
        return malformed("the file has no region");
    return graph;
}

/// The bytes of one element, as in CLAMP's bounds.
struct element_bytes {
    std::array<std::uint8_t, 8> bytes{};
    std::size_t size = 0;
};
[[nodiscard]] inline element_bytes encode_element(const scalar& number, dtype type) {
    element_bytes out;
    out.size = static_cast<std::size_t>(storage_bytes(type, 1));
    const std::uint64_t bits = is_floating(type) ? encode_float(number.to_double(), format_of(type))
                                                 : static_cast<std::uint64_t>(number.to_int());
    for (std::size_t i = 0; i != out.size; ++i) out.bytes[i] = static_cast<std::uint8_t>(bits >> (8 * i));
    return out;
}
[[nodiscard]] inline scalar decode_element(const std::uint8_t* bytes, dtype type) {
    const auto size = static_cast<std::size_t>(storage_bytes(type, 1));
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i != size; ++i) bits |= std::uint64_t{bytes[i]} << (8 * i);
    if (is_floating(type)) return scalar(decode_float(static_cast<std::uint32_t>(bits), format_of(type)));
    const unsigned unused = 64U - traits_of(type).bits;
    return scalar(static_cast<std::int64_t>(bits << unused) >> unused);
}

}  // namespace headrace::tosa_file

#endif
