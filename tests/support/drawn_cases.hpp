// SPDX-License-Identifier: MIT
// Defines how many random cases a test draws.
#ifndef HEADRACE_TESTS_DRAWN_CASES_HPP
#define HEADRACE_TESTS_DRAWN_CASES_HPP
#include <algorithm>

namespace headrace::testing {

/// Returns how many of `count` random cases are drawn: a quarter, at least one, where sanitizers take ten times as long.
[[nodiscard]] constexpr unsigned drawn_cases(unsigned count) {
#ifdef HEADRACE_SANITIZED
    return std::max(1U, count / 4);
#else
    return count;
#endif
}

}  // namespace headrace::testing

#endif
