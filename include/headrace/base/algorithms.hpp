// SPDX-License-Identifier: MIT
// Defines the few range algorithms that the core needs. <algorithm> has them too, but costs a twentieth of
// the umbrella's compile time.
#ifndef HEADRACE_BASE_ALGORITHMS_HPP
#define HEADRACE_BASE_ALGORITHMS_HPP

#include <cstddef>
#include <utility>
#include <vector>  // has std::copy, std::equal, std::max and std::min, in each standard library

namespace headrace {

template <class Range, class Predicate>
[[nodiscard]] constexpr bool any_of(const Range& range, Predicate&& holds) {
    for (const auto& item : range) {
        if (holds(item)) return true;
    }
    return false;
}

template <class Range, class T>
[[nodiscard]] constexpr bool contains(const Range& range, const T& wanted) {
    for (const auto& item : range) {
        if (item == wanted) return true;
    }
    return false;
}

template <class A, class B>
[[nodiscard]] constexpr bool same_items(const A& a, const B& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

/// Moves the last item to the front.
template <class Range>
constexpr void reverse(Range& range) {
    for (std::size_t i = 0, end = range.size(); i + 1 < end; ++i) std::swap(range[i], range[--end]);
}

}  // namespace headrace

#endif
