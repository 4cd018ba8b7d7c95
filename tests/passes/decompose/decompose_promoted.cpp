// SPDX-License-Identifier: MIT
// Tests functions of real numbers on integers, booleans and halves: PyTorch computes the first two in
// float32.
#include <catch2/catch.hpp>

#include <headrace/passes/decompose/arithmetic.hpp>
#include <headrace/passes/decompose/powers.hpp>
#include <headrace/passes/decompose/trigonometric.hpp>

#include "../../support/pass_test.hpp"

using namespace headrace;

namespace {

/// `Ops` of an input of a dtype, one output each.
template <class... Ops>
auto functions_of(dtype type) {
    return [type](program& p) {
        const value x = p.input(type, {2, 5});
        (p.output(p.make<Ops>({.self = x})), ...);
    };
}

}  // namespace

TEST_CASE("functions of integers, booleans and halves") {
    const dtype type =
        GENERATE(dtype::boolean, dtype::int8, dtype::int32, dtype::float16, dtype::bfloat16, dtype::float32);
    CAPTURE(type);
    const double tolerance = type == dtype::float16 || type == dtype::bfloat16 ? 3e-2 : 1e-5;
    CHECK_THAT((functions_of<aten::sqrt, aten::expm1, aten::log1p, aten::log2, aten::log10>(type)),
        computes_the_same<decompose_exponentials>().within(tolerance));
    CHECK_THAT((functions_of<aten::sinh, aten::cosh, aten::asinh, aten::acosh, aten::atanh>(type)),
        computes_the_same<decompose_hyperbolic>().within(tolerance));
    CHECK_THAT((functions_of<aten::tan, aten::asin, aten::acos, aten::atan>(type)),
        computes_the_same<decompose_trigonometric>().within(10 * tolerance));
}

TEST_CASE("quotients of every type") {
    const dtype type = GENERATE(dtype::boolean, dtype::int8, dtype::int32, dtype::float16, dtype::float32);
    CAPTURE(type);
    CHECK_THAT(
        [=](program& p) {
            p.output(p.make<aten::div_tensor>({p.input(type, {2, 5}), p.input(type, {5})}));
        },
        computes_the_same<decompose_division>().within(type == dtype::float16 ? 3e-2 : 1e-5));
}
