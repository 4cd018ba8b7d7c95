// SPDX-License-Identifier: MIT
// Declares functions that join and repeat tensors, and headrace::eval::copy_by_axis.
#ifndef HEADRACE_EVAL_ATEN_JOIN_HPP
#define HEADRACE_EVAL_ATEN_JOIN_HPP

#include <cstddef>
#include <cstdint>
#include <vector>

#include <headrace/eval/evaluation.hpp>
#include <headrace/eval/map.hpp>

namespace headrace::eval {

/// Writes tensors one after another along an axis. PyTorch skips empty ones of rank 1.
void concatenate(evaluation& e, list<value> tensors, std::int64_t axis);

/// Copies elements by their indices along each axis: `source(d, i)` is the index in `in` for index i of axis
/// d, or -1 if the element of the result keeps its value.
template <class F>
void copy_by_axis(tensor& out, const tensor& in, F source) {
    const extents strides = row_major_strides(in.shape());
    constexpr std::int64_t outside = -1;
    std::vector<extents> offsets(out.rank());
    for (std::size_t d = 0; d != out.rank(); ++d) {
        for (std::int64_t i = 0; i != out.dim(d); ++i) {
            const std::int64_t from = source(d, i);
            offsets[d].push_back(from < 0 ? outside : from * strides[d]);
        }
    }
    visit_width(out.type(), [&]<class U>(U) {
        const U* from = in.data<U>().data();
        U* to = out.mutable_data<U>().data();
        const auto copy = [&](const auto& self, std::size_t d, std::int64_t at) -> void {
            if (d == offsets.size()) {
                *to = at < 0 ? *to : from[at];
                ++to;
                return;
            }
            for (const std::int64_t o : offsets[d]) self(self, d + 1, at < 0 || o < 0 ? outside : at + o);
        };
        copy(copy, 0, 0);
    });
}

/// If `repeats` has more axes than self, the extra ones come first.
void repeat_into(evaluation& e, value self);

}  // namespace headrace::eval

#endif
