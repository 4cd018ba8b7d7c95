// SPDX-License-Identifier: MIT
// Replaces a pattern that does not use one of its placeholders.
// EXPECT: pattern: its expression is ill-formed
// EXPECT: unused_placeholder<1, headrace::toy::relu>

#include <headrace/fx/rewriter.hpp>

#include "../support/toy.hpp"

using namespace headrace;

inline constexpr auto relu = [](auto x, auto) { return call<toy::relu>(x); };
inline constexpr auto sum = [](auto x, auto y) { return call<toy::add>(x, y); };

auto replace(graph& g, const replacement& with, pass_context& context) {
    return replace_pattern(g, sum, with, context);
}
