// SPDX-License-Identifier: MIT
// Defines headrace::tensor_meta, the `val` metadata of a value.
#ifndef HEADRACE_IR_TENSOR_META_HPP
#define HEADRACE_IR_TENSOR_META_HPP

#include <cstddef>
#include <cstdint>
#include <optional>

#include <headrace/base/dtype.hpp>
#include <headrace/base/lists.hpp>

namespace headrace {

/// The type of a value, known before the program runs. Shapes are static and logical; the order of dimensions
/// in PyTorch's memory is in `dim_order` (empty: contiguous).
struct tensor_meta {
    headrace::dtype dtype = headrace::dtype::unknown;
    int_list shape{};
    list<std::int64_t> dim_order{};

    [[nodiscard]] constexpr std::size_t rank() const { return shape.size(); }

    /// Returns the number of elements, or nothing if it does not fit in 63 bits. An empty tensor is refused,
    /// too, if the product of its other sizes does not fit, because its strides would not.
    [[nodiscard]] constexpr std::optional<std::int64_t> checked_elements() const {
        std::int64_t count = 1;
        bool empty = false;
        for (const std::int64_t size : shape) {
            if (size < 0 || (size != 0 && __builtin_mul_overflow(count, size, &count))) return std::nullopt;
            empty = empty || size == 0;
        }
        return empty ? 0 : count;
    }
    /// Returns the number of elements of a shape that is known to be valid, as every shape in a graph is.
    [[nodiscard]] constexpr std::int64_t elements() const {
        std::int64_t count = 1;
        for (const std::int64_t size : shape) count *= size;
        return count;
    }

    friend constexpr bool operator==(const tensor_meta& a, const tensor_meta& b) {
        return a.dtype == b.dtype && a.shape == b.shape;
    }
};

/// True if metadata is equal, including dim orders, which == ignores.
[[nodiscard]] constexpr bool same_val(const tensor_meta& a, const tensor_meta& b) {
    return a == b && a.dim_order == b.dim_order;
}

/// True if metadata is equal or missing on both sides.
[[nodiscard]] constexpr bool same_meta(const tensor_meta* a, const tensor_meta* b) {
    return a == b || (a != nullptr && b != nullptr && *a == *b);
}

/// Returns the bytes of a tensor whose elements are packed as in TOSA.
[[nodiscard]] constexpr std::uint64_t packed_bytes(const tensor_meta& meta) {
    return storage_bytes(meta.dtype, static_cast<std::uint64_t>(meta.elements()));
}
/// Returns the packed bytes of a tensor that is in memory, such as the data of any constant.
[[nodiscard]] constexpr std::size_t bytes_in_memory(const tensor_meta& meta) {
    return static_cast<std::size_t>(packed_bytes(meta));
}

/// Returns a non-negative axis of a tensor of that rank, or nothing if it is out of range. Rank 0 counts as
/// 1, as in PyTorch.
[[nodiscard]] constexpr std::optional<std::size_t> normalized_axis(std::int64_t axis, std::size_t rank) {
    const auto limit = static_cast<std::int64_t>(rank == 0 ? 1 : rank);
    if (axis < -limit || axis >= limit) return std::nullopt;
    return static_cast<std::size_t>(axis < 0 ? axis + limit : axis);
}

}  // namespace headrace

#endif
