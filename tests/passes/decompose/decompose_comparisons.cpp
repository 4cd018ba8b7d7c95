// SPDX-License-Identifier: MIT
// Tests the decompositions of ops that turn numbers into booleans.
#include <catch2/catch.hpp>

#include <headrace/passes/decompose/comparisons.hpp>

#include "functions.hpp"

using namespace headrace;

TEST_CASE("numbers as truth values") {
    const auto rounded = [](program& p, dtype type) { return p.make<aten::round>({p.input(type, {3, 4})}); };
    const auto check_truth = [&](const auto& make) {
        CHECK_THAT([&](program& p) { p.output(make(p, rounded(p, dtype::float32))); },
            computes_the_same<decompose_comparisons>());
    };
    check_truth([](program& p, value x) { return p.make<aten::logical_not>({x}); });
    check_truth(
        [](program& p, value x) { return p.make<aten::_to_copy>({.self = x, .dtype = dtype::boolean}); });
    check_truth([](program& p, value x) { return p.make<aten::any_dim>({.self = x, .dim = 1}); });
    check_truth([](program& p, value x) { return p.make<aten::all>({x}); });
    check_truth([&](program& p, value x) {
        return p.make<aten::logical_xor>({x, rounded(p, dtype::float32)});
    });
    check_truth([](program& p, value x) {
        return p.make<aten::logical_or>({p.input(dtype::boolean, {4}), x});
    });
}
