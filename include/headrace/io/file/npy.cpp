// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/file/npy.hpp.

#include <headrace/io/file/npy.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/io/file/atomic_file.hpp>
#include <headrace/io/file/mapped_file.hpp>
#include <headrace/ir/strided_walk.hpp>
#include <headrace/ir/tensor_meta.hpp>

namespace headrace {

npy_array::npy_array(dtype type, std::vector<std::int64_t> shape, std::vector<std::byte> bytes)
    : data(std::move(bytes)), extents(std::move(shape)) {
    meta.dtype = type;
    meta.shape = std::span<const std::int64_t>(extents);
}

namespace {

struct npy_type {
    std::string_view name;  ///< NumPy's name, without the byte order
    headrace::dtype dtype;
};

constexpr npy_type npy_types[] = {{"b1", dtype::boolean}, {"i1", dtype::int8}, {"i2", dtype::int16},
    {"i4", dtype::int32}, {"i8", dtype::int64}, {"u1", dtype::uint8}, {"u2", dtype::uint16},
    {"u4", dtype::uint32}, {"u8", dtype::uint64}, {"f2", dtype::float16}, {"f4", dtype::float32},
    {"f8", dtype::float64}, {"c8", dtype::complex64},
    {"V2", dtype::bfloat16}};  // NumPy has no such type and saves the arrays of ml_dtypes as two bytes

/// Returns the header's text after `'key':`, without leading spaces; empty if it has no such key.
[[nodiscard]] std::string_view npy_field(std::string_view header, std::string_view key) {
    const std::string spelled = "'" + std::string(key) + "':";
    const std::size_t at = header.find(spelled);
    if (at == std::string_view::npos) return {};
    header.remove_prefix(at + spelled.size());
    header.remove_prefix(std::min(header.find_first_not_of(' '), header.size()));
    return header;
}

/// Converts "'<f4'…" to float32; unknown for another byte order or type. Types of one byte have no order:
/// '|'.
[[nodiscard]] dtype npy_dtype(std::string_view text) {
    if (text.size() < 5 || text[0] != '\'' || text[4] != '\'') return dtype::unknown;
    for (const npy_type& t : npy_types) {
        if (text.substr(2, 2) != t.name) continue;
        const bool has_order = traits_of(t.dtype).bits != 8 && t.dtype != dtype::bfloat16;
        if (text[1] == '<' || (!has_order && text[1] == '|')) return t.dtype;
    }
    return dtype::unknown;
}

/// Parses "(2, 3)…" or "(2,)…" or "()…".
[[nodiscard]] std::optional<std::vector<std::int64_t>> npy_shape(std::string_view text) {
    std::vector<std::int64_t> shape;
    if (text.empty() || text.front() != '(') return std::nullopt;
    text.remove_prefix(1);
    for (;;) {
        while (!text.empty() && (text.front() == ' ' || text.front() == ',')) text.remove_prefix(1);
        if (text.empty()) return std::nullopt;
        if (text.front() == ')') return shape;
        std::int64_t size = 0;
        const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), size);
        constexpr std::size_t largest_rank = 64;
        if (failed != std::errc() || size < 0 || shape.size() == largest_rank) return std::nullopt;
        shape.push_back(size);
        text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    }
}

/// Returns the number of bytes of an array, or nullopt if it overflows.
[[nodiscard]] std::optional<std::uint64_t> npy_bytes(dtype type, const std::vector<std::int64_t>& shape) {
    std::uint64_t bytes = traits_of(type).bits / 8U;
    bool empty = false;
    for (const std::int64_t size : shape) {
        empty = empty || size == 0;
        if (size != 0 && __builtin_mul_overflow(bytes, static_cast<std::uint64_t>(size), &bytes))
            return std::nullopt;
    }
    return empty ? 0 : bytes;
}

/// Copies a column-major array into row-major order.
void npy_transpose(std::span<const std::byte> from, std::span<std::byte> to, std::size_t width,
    const std::vector<std::int64_t>& shape) {
    std::vector<std::int64_t> strides(shape.size(), 1);
    for (std::size_t d = 1; d < shape.size(); ++d) strides[d] = strides[d - 1] * shape[d - 1];
    std::byte* next = to.data();
    for_each_position(shape, strides, [&](std::int64_t position) {
        std::memcpy(next, from.data() + static_cast<std::size_t>(position) * width, width);
        next += width;
    });
}

}  // namespace

namespace detail {

result<std::size_t> npy_head_size(std::span<const std::byte> bytes) {
    constexpr std::string_view magic = "\x93NUMPY";
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (!text.starts_with(magic) || text.size() < npy_begin) return malformed("is not an .npy file");
    const auto byte_at = [&](std::size_t i) { return std::to_integer<std::size_t>(bytes[i]); };
    const std::size_t version = byte_at(6);
    if (version != 1 && version != 2) return malformed({"has .npy version ", version, ", not 1 or 2"});
    std::size_t size = byte_at(8) | byte_at(9) << 8U;
    if (version == 2) size |= byte_at(10) << 16U | byte_at(11) << 24U;
    return std::max(npy_begin, (version == 1 ? 10 : npy_begin) + size);
}

result<npy_parts> npy_split(std::span<const std::byte> bytes) {
    HEADRACE_TRY(size, npy_head_size(bytes));
    if (size > bytes.size()) return malformed("ends within its header");
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), size);
    return npy_parts{text.substr(text[6] == 1 ? 10 : npy_begin), bytes.subspan(size)};
}

result<npy_layout> npy_layout_of(std::span<const std::byte> head) {
    HEADRACE_TRY(parts, npy_split(head));
    const std::string_view type_text = npy_field(parts.header, "descr");
    const dtype type = npy_dtype(type_text);
    if (type == dtype::unknown) {
        return malformed({"holds elements of type ", type_text.substr(0, 5), ", which cannot be read"});
    }
    const std::string_view order = npy_field(parts.header, "fortran_order");
    const bool column_major = order.starts_with("True");
    auto shape = npy_shape(npy_field(parts.header, "shape"));
    if (!shape || (!column_major && !order.starts_with("False")))
        return malformed("has a header that cannot be read");
    const auto size = npy_bytes(type, *shape);
    if (!size) return malformed("has more or less data than its shape says");
    return npy_layout{type, std::move(*shape), column_major, *size};
}

result<npy_array> npy_parse(std::span<const std::byte> bytes, bool with_data) {
    HEADRACE_TRY(layout, npy_layout_of(bytes));
    HEADRACE_TRY(parts, npy_split(bytes));
    if (layout.bytes != parts.data.size()) return malformed("has more or less data than its shape says");
    if (!with_data) return npy_array(layout.type, std::move(layout.shape), {});
    std::vector<std::byte> data(parts.data.begin(), parts.data.end());
    if (layout.column_major) npy_transpose(parts.data, data, traits_of(layout.type).bits / 8U, layout.shape);
    return npy_array(layout.type, std::move(layout.shape), std::move(data));
}

}  // namespace detail

namespace {

result<npy_array> read_array(const std::filesystem::path& path, bool with_data) {
    HEADRACE_TRY(file, open_mapped(path));
    auto read = detail::npy_parse(file.bytes(), with_data);
    HEADRACE_TRY(file.check());
    if (read) return read;
    return read.error().in(path.string());
}

}  // namespace

result<npy_array> read_npy(const std::filesystem::path& path) { return read_array(path, true); }

result<npy_array> read_npy_head(const std::filesystem::path& path) { return read_array(path, false); }

result<std::vector<std::byte>> npy_bytes_of(const tensor_meta& meta, std::span<const std::byte> data) {
    const auto* type = std::ranges::find(npy_types, meta.dtype, &npy_type::dtype);
    if (type == std::end(npy_types)) return unsupported({"npy: no type for ", name_of(meta.dtype)});
    constexpr std::size_t alignment = 64;
    std::string header = "{'descr': '";
    header += traits_of(meta.dtype).bits == 8 ? '|' : '<';
    header += std::string(type->name) + "', 'fortran_order': False, 'shape': (";
    for (const std::int64_t size : meta.shape) header += std::to_string(size) + ", ";
    if (meta.rank() > 1) header.resize(header.size() - 2);
    if (meta.rank() == 1) header.pop_back();
    header += "), }";
    header.resize((header.size() + 11 + alignment - 1) / alignment * alignment - 11, ' ');
    header += '\n';
    std::string front = "\x93NUMPY";
    front +=
        {'\x01', '\x00', static_cast<char>(header.size() & 0xffU), static_cast<char>(header.size() >> 8U)};
    front += header;
    std::vector<std::byte> bytes(front.size() + data.size());
    std::memcpy(bytes.data(), front.data(), front.size());
    if (!data.empty()) std::memcpy(bytes.data() + front.size(), data.data(), data.size());
    return bytes;
}

result<void> write_npy(
    const std::filesystem::path& path, const tensor_meta& meta, std::span<const std::byte> data) {
    HEADRACE_TRY(bytes, npy_bytes_of(meta, data));
    return write_atomically(path.string(), bytes);
}

}  // namespace headrace
