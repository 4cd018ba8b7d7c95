// SPDX-License-Identifier: MIT
// Defines headrace::build::repeat, which repeats the elements of a constant.
#ifndef HEADRACE_PASSES_SUPPORT_REPEATING_HPP
#define HEADRACE_PASSES_SUPPORT_REPEATING_HPP

#include <array>
#include <cstddef>
#include <cstdint>

#include <headrace/pass/pass.hpp>
#include <headrace/passes/support/constants.hpp>

namespace headrace::build {

/// Repeats the elements of an integer constant.
inline value repeat(emit<ops<>> e, value v, std::int64_t times) {
    const auto numbers = constant_integers(v);
    if (times == 1 || !numbers || numbers->empty()) return v;
    const auto count = static_cast<std::int64_t>(numbers->size());
    return e.constant_of(e.dtype(v), std::array{count * times},
        [&](std::size_t i) { return (*numbers)[i % numbers->size()]; });
}

}  // namespace headrace::build

#endif
