// SPDX-License-Identifier: MIT
// Defines headrace::pt2::tensor_layout, a TensorMeta of the torch.export schema, and how it is read.
#ifndef HEADRACE_IO_PT2_TENSOR_HPP
#define HEADRACE_IO_PT2_TENSOR_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <headrace/io/pt2/symbols.hpp>
#include <headrace/ir/tensor_meta.hpp>

namespace headrace::pt2 {

/// Returns the dtype of the schema's ScalarType, whose numbers are not c10's; unknown if headrace has no such
/// type.
[[nodiscard]] constexpr dtype dtype_of(std::int64_t number) {
    constexpr std::array<dtype, 14> first{dtype::unknown, dtype::uint8, dtype::int8, dtype::int16,
        dtype::int32, dtype::int64, dtype::float16, dtype::float32, dtype::float64, dtype::complex32,
        dtype::complex64, dtype::complex128, dtype::boolean, dtype::bfloat16};
    switch (number) {
        case 28:
            return dtype::uint16;
        case 29:
            return dtype::float8_e4m3;
        case 30:
            return dtype::float8_e5m2;
        case 34:
            return dtype::uint32;
        case 35:
            return dtype::uint64;
        default:
            return number < 0 || number >= 14 ? dtype::unknown : first[static_cast<std::size_t>(number)];
    }
}

[[nodiscard]] dtype read_dtype(std::int64_t number);

/// More dimensions than any tensor of PyTorch has.
inline constexpr std::size_t largest_rank = 64;

/// A short list of integers read from JSON.
struct extents {
    std::array<std::int64_t, largest_rank> items{};
    std::size_t count = 0;

    [[nodiscard]] std::span<const std::int64_t> span() const { return {items.data(), count}; }
};

/// The layout of a tensor in its storage. Sizes and strides are not negative, and equally many.
struct tensor_layout {
    headrace::dtype dtype = headrace::dtype::unknown;
    extents sizes;
    extents strides;
    std::int64_t offset = 0;
    std::int64_t elements = 0;

    [[nodiscard]] std::int64_t size(std::size_t i) const { return sizes.items[i]; }
    [[nodiscard]] std::int64_t stride(std::size_t i) const { return strides.items[i]; }

    /// True if elements follow each other without gaps in this order of dimensions. Dimensions of length 1 do
    /// not count.
    template <class Order>
    [[nodiscard]] bool is_dense(const Order& order) const {
        std::int64_t expected = 1;
        for (std::size_t i = sizes.count; i-- != 0;) {
            const std::size_t d = order(i);
            if (size(d) != 1 && stride(d) != expected) return false;
            expected *= size(d);
        }
        return true;
    }
    [[nodiscard]] bool is_row_major() const {
        return elements == 0 || is_dense([](std::size_t i) { return i; });
    }
};

/// Checks that there are as many strides as sizes, and counts the elements.
void complete(tensor_layout& layout);

[[nodiscard]] tensor_layout read_layout(const simdjson::dom::object& meta, const symbol_table& symbols);

/// Returns the `val` of a value with that layout. It has a dim order only if its elements fill memory in an
/// order other than row-major.
[[nodiscard]] tensor_meta meta_of_layout(const tensor_layout& layout, extents& order);

}  // namespace headrace::pt2

#endif
