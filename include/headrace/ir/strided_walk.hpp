// SPDX-License-Identifier: MIT
// Defines headrace::element_at and headrace::for_each_position, which find elements that are not stored in
// row-major order.
#ifndef HEADRACE_IR_STRIDED_WALK_HPP
#define HEADRACE_IR_STRIDED_WALK_HPP

#include <cstddef>
#include <cstdint>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/base/sizes.hpp>
#include <headrace/ir/tensor_meta.hpp>
#include <headrace/op/fields.hpp>

namespace headrace {

/// Returns the address of element `i`, in row-major order, of a constant; for dtypes of whole bytes.
[[nodiscard]] inline const std::byte* element_at(
    const tensor_data& data, const tensor_meta& meta, std::int64_t i) {
    const std::int64_t size = traits_of(meta.dtype).bits / 8;
    if (data.strides.empty()) return data.bytes + i * size;
    std::int64_t offset = 0;
    for (std::size_t axis = meta.rank(); axis-- != 0; i /= meta.shape[axis])
        offset += i % meta.shape[axis] * data.strides[axis];
    return data.bytes + offset * size;
}

/// Calls `f(position)` for each index of `shape` in row-major order; the position is the sum of each
/// coordinate times its stride. `strides` has one entry per axis.
template <class F>
void for_each_position(sizes shape, sizes strides, F f) {
    for (const std::int64_t size : shape) {
        if (size == 0) return;
    }
    pmr_vector<std::int64_t> at(shape.size());
    std::int64_t position = 0;
    for (;;) {
        f(position);
        std::size_t d = shape.size();
        for (;;) {
            if (d-- == 0) return;
            position += strides[d];
            if (++at[d] != shape[d]) break;
            position -= strides[d] * shape[d];
            at[d] = 0;
        }
    }
}

}  // namespace headrace

#endif
