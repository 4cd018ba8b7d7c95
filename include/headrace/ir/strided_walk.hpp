// SPDX-License-Identifier: MIT
// Defines headrace::for_each_position, which visits elements that are not stored in row-major order.
#ifndef HEADRACE_IR_STRIDED_WALK_HPP
#define HEADRACE_IR_STRIDED_WALK_HPP

#include <cstddef>
#include <cstdint>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/base/sizes.hpp>

namespace headrace {

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
