// SPDX-License-Identifier: MIT
// Defines a constant whose place in a file is reserved, and how its bytes are written later.
#ifndef HEADRACE_IO_TOSA_DEFERRED_CONSTANT_HPP
#define HEADRACE_IO_TOSA_DEFERRED_CONSTANT_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <headrace/io/file/element_copier.hpp>
#include <headrace/ir/tensor_meta.hpp>
#include <headrace/op/fields.hpp>

namespace headrace::tosa_file {

/// A constant whose bytes are not in the buffer of a flatbuffer; the file only has room for them.
struct deferred_constant {
    std::size_t from_end = 0;  ///< bytes from its first byte to the end of the file
    tensor_data data{};
    tensor_meta meta{};
};

/// Streams the elements of constants in row-major order: in one piece if they are stored that way, else in
/// copied parts.
template <class Sink>
class element_streamer {
public:
    /// Approximate size of a part; it bounds the memory that is taken.
    static constexpr std::size_t part_bytes = std::size_t{1} << 20;

    /// `sink(std::span<const std::byte>) -> bool` returns whether to go on.
    explicit element_streamer(Sink& sink) : sink_(sink) {}

    /// Returns false as soon as the sink does.
    [[nodiscard]] bool give(const tensor_data& data, const tensor_meta& meta) {
        const std::size_t size = bytes_in_memory(meta);
        if (size == 0) return true;
        if (detail::is_row_major(data, meta.shape)) return sink_(std::span(data.bytes, size));
        // A part of packed elements might begin inside a byte.
        const bool is_packed = traits_of(meta.dtype).bits % 8 != 0;
        if (size <= part_bytes || is_packed) return copy(data, meta);
        return give_rows(data, meta, size / static_cast<std::size_t>(meta.shape[0]));
    }

private:
    [[nodiscard]] bool give_rows(const tensor_data& data, const tensor_meta& meta, std::size_t row_bytes) {
        std::vector<std::int64_t> shape(meta.shape.begin(), meta.shape.end());
        const std::int64_t rows = shape[0];
        const auto at_once = static_cast<std::int64_t>(std::max<std::size_t>(1, part_bytes / row_bytes));
        const std::int64_t row_distance = data.strides[0] * (traits_of(meta.dtype).bits / 8);
        for (std::int64_t row = 0; row < rows; row += at_once) {
            shape[0] = std::min(at_once, rows - row);
            const std::byte* const first = data.bytes + row * row_distance;
            // A single row that is too large is divided as well.
            const std::size_t axis = shape[0] == 1 ? 1 : 0;
            const tensor_data part{first, std::span(data.strides.begin(), data.strides.end()).subspan(axis)};
            if (!give(part, {meta.dtype, std::span(std::as_const(shape)).subspan(axis), {}})) return false;
        }
        return true;
    }
    [[nodiscard]] bool copy(const tensor_data& data, const tensor_meta& meta) {
        copied_.resize(bytes_in_memory(meta));
        detail::element_copier(data, meta, reinterpret_cast<std::uint8_t*>(copied_.data())).copy();
        return sink_(std::span<const std::byte>(copied_));
    }

    Sink& sink_;
    std::vector<std::byte> copied_;
};

}  // namespace headrace::tosa_file

#endif
