// SPDX-License-Identifier: MIT
// Tests the decompositions of bounds, masks and powers, and of binary functions.
#include <limits>

#include <catch2/catch.hpp>

#include <headrace/passes/decompose/arithmetic.hpp>
#include <headrace/passes/decompose/comparisons.hpp>
#include <headrace/passes/decompose/powers.hpp>

#include "functions.hpp"

using namespace headrace;

TEST_CASE("bounds, masks and powers") {
    check<decompose_limits>([](program& p, value x) { return p.make<aten::clamp_min>({x, 0.25}); });
    check<decompose_limits>([](program& p, value x) { return p.make<aten::clamp_max>({x, 0.25}); });
    check<decompose_limits>([](program& p, value x) {
        return p.make<aten::clamp_min_tensor>({x, p.input(meta_of(x)->dtype, {4, 1})});
    });
    check<decompose_limits>([](program& p, value x) {
        return p.make<aten::clamp_max_tensor>({x, p.input(meta_of(x)->dtype, {6})});
    });
    check<decompose_masks>([](program& p, value x) {
        const value mask = p.input(dtype::boolean, {4, 6});
        return p.make<aten::masked_fill_tensor>({x, mask, p.input(meta_of(x)->dtype, {})});
    });
    CHECK_THAT(
        [](program& p) {  // dtypes that promote only with the third
            const value x = p.input(dtype::int32, {4});
            p.output(
                p.make<aten::clamp_tensor>({x, p.input(dtype::float16, {}), p.input(dtype::float32, {4})}));
        },
        computes_the_same<decompose_limits>());
    for (const scalar base : {scalar(2), scalar(0.5), scalar(1)}) {
        check<decompose_pow>([=](program& p, value x) { return p.make<aten::pow_scalar>({base, x}); });
    }
}

TEST_CASE("functions of two numbers, NaN and infinities among them") {
    std::vector<double> left, right;
    for (const double x : special) {
        for (const double y : special) {
            left.push_back(x);
            right.push_back(y);
        }
        left.push_back(x);
        right.push_back(std::numeric_limits<double>::quiet_NaN());
        left.push_back(std::numeric_limits<double>::quiet_NaN());
        right.push_back(x);
    }
    const auto size = static_cast<std::int64_t>(left.size());
    const std::vector<tensor> numbers{
        tensor::of(dtype::float32, {size}, left), tensor::of(dtype::float32, {size}, right)};
    const auto check_pairs = [&]<class Pass, class Op>(Pass, Op) {
        INFO(Op::name);
        CHECK_THAT(
            [=](program& p) {
                p.output(p.make<Op>({p.input(dtype::float32, {size}), p.input(dtype::float32, {size})}));
            },
            computes_the_same<Pass>().for_inputs(numbers).within(1e-5));
        CHECK_THAT(
            [](program& p) {
                p.output(p.make<Op>({p.input(dtype::float32, {3, 1}), p.input(dtype::float32, {2, 1, 4})}));
            },
            computes_the_same<Pass>());
    };
    check_pairs(decompose_limits{}, aten::fmax{});
    check_pairs(decompose_limits{}, aten::fmin{});
    check_pairs(decompose_rounding{}, aten::copysign_tensor{});
    check_pairs(decompose_exponentials{}, aten::hypot{});
    check_pairs(decompose_exponentials{}, aten::logaddexp{});
    check_pairs(decompose_exponentials{}, aten::xlogy_tensor{});
}
