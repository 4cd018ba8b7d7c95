// SPDX-License-Identifier: MIT
// Defines helpers for tests of decomposed functions: inputs of float32 and float16, and numbers on which
// functions often fail.
#ifndef HEADRACE_TESTS_PASSES_DECOMPOSE_FUNCTIONS_HPP
#define HEADRACE_TESTS_PASSES_DECOMPOSE_FUNCTIONS_HPP

#include <limits>
#include <vector>

#include "../../support/pass_test.hpp"

namespace headrace {

constexpr double infinity = std::numeric_limits<double>::infinity();
inline const std::vector<double> special{
    0, -0.0, 0.5, -0.5, 1.5, -2.5, 3, -3, 1e-3, -1e6, 1e6, 0.1, infinity, -infinity, 2.5, -1.5};

/// `make(program&, value)` returns the output for a random input [2, 4, 6], of float32 and of float16.
template <class... Passes, class Make>
void check(const Make& make) {
    for (const dtype type : {dtype::float32, dtype::float16}) {
        CHECK_THAT(([&](program& p) {
            p.output(make(p, p.input(type, {2, 4, 6})));
        }),
            computes_the_same<Passes...>().within(type == dtype::float32 ? 1e-5 : 2e-2));
    }
}
/// `make(program&, value)` returns the output for an input of these numbers.
template <class Pass, class Make>
void check_numbers(const std::vector<double>& numbers, const Make& make) {
    const auto size = static_cast<std::int64_t>(numbers.size());
    CHECK_THAT([&](program& p) { p.output(make(p, p.input(dtype::float32, {size}))); },
        computes_the_same<Pass>().for_inputs({tensor::of(dtype::float32, {size}, numbers)}));
}

}  // namespace headrace

#endif
