// SPDX-License-Identifier: MIT
// Tests the decompositions of rounding and signs, and of degrees and radians.
#include <catch2/catch.hpp>

#include <headrace/passes/decompose/arithmetic.hpp>
#include <headrace/passes/decompose/trigonometric.hpp>

#include "functions.hpp"

using namespace headrace;

TEST_CASE("rounding and signs") {
    const auto sgn = [](program& p, value x) { return p.make<aten::sgn>({x}); };
    check<decompose_rounding>(sgn);
    check_numbers<decompose_rounding>(special, sgn);
    check_numbers<decompose_rounding>(
        {0, 0.5, -0.5, 2.75, -2.75, 1e6}, [](program& p, value x) { return p.make<aten::frac>({x}); });
    for (const std::int64_t decimals : {0, 1, 2}) {
        check_numbers<decompose_rounding>(
            {0, 0.5, -0.5, 2.756, -2.754, 123.4567, 0.25}, [=](program& p, value x) {
                return p.make<aten::round_decimals>({x, decimals});
            });
    }
    check_numbers<decompose_rounding>(
        special, [](program& p, value x) { return p.make<aten::signbit>({x}); });
}

TEST_CASE("complex numbers have no sign in TOSA") {
    CHECK_THAT([](program& p) { p.output(p.make<aten::sgn>({p.input(dtype::complex64, {4})})); },
        is_refused_by<decompose_rounding>("complex numbers"));
}

TEST_CASE("degrees and radians") {
    check<decompose_trigonometric>([](program& p, value x) { return p.make<aten::deg2rad>({x}); });
    check<decompose_trigonometric>([](program& p, value x) { return p.make<aten::rad2deg>({x}); });
}
