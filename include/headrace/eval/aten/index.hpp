// SPDX-License-Identifier: MIT
// Declares functions that move elements between positions given by index.
#ifndef HEADRACE_EVAL_ATEN_INDEX_HPP
#define HEADRACE_EVAL_ATEN_INDEX_HPP

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <headrace/eval/evaluation.hpp>
#include <headrace/eval/map.hpp>

namespace headrace::eval {

/// The meaning of an index below 0.
enum class negative_index : unsigned char { refused, from_end };

/// Returns indices into an axis of that size. Fails on an index that is out of range.
[[nodiscard]] std::vector<std::int64_t> checked_indices(
    evaluation& e, const tensor& t, std::int64_t size, negative_index negative = negative_index::refused);

/// Moves elements between two tensors of one dtype: `positions(move)` calls move(to, from). With `add`,
/// elements are summed instead of copied.
template <class F>
void move_elements(tensor& to, const tensor& from, F positions) {
    visit_width(to.type(), [&]<class U>(U) {
        const std::span<U> target = to.mutable_data<U>();
        const std::span<const U> source = from.data<U>();
        positions([&](std::size_t t, std::size_t s) { target[t] = source[s]; });
    });
}
template <class F>
void add_elements(tensor& to, const tensor& from, F positions) {
    visit_compute(to.type(), [&]<class T>(T) {
        std::vector<T> target = to.to<T>();
        const std::vector<T> source = from.to<T>();
        positions([&](std::size_t t, std::size_t s) { target[t] = plus()(target[t], source[s]); });
        to.assign(target);
    });
}

}  // namespace headrace::eval

#endif
