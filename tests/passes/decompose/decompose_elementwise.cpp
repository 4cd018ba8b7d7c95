// SPDX-License-Identifier: MIT
// Tests the decompositions of elementwise functions: each is computed before and after, on ordinary and
// extreme numbers.
#include <cmath>
#include <limits>

#include <catch2/catch.hpp>

#include <headrace/passes/decompose/activations.hpp>
#include <headrace/passes/decompose/arithmetic.hpp>
#include <headrace/passes/decompose/comparisons.hpp>
#include <headrace/passes/decompose/norms.hpp>
#include <headrace/passes/decompose/powers.hpp>
#include <headrace/passes/decompose/trigonometric.hpp>

#include "../../support/pass_test.hpp"

using namespace headrace;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

template <class... Passes>
constexpr bool remove_their_targets =
    ((effects_of<Passes>::removed_set == effects_of<Passes>::target_set) && ...);
static_assert(remove_their_targets<decompose_elu, decompose_erfinv, decompose_exponentials,
    decompose_fused_arithmetic, decompose_gelu, decompose_hyperbolic, decompose_limits, decompose_masks,
    decompose_norms, decompose_pow, decompose_predicates, decompose_rectifiers, decompose_rounding,
    decompose_sigmoids, decompose_softmax, decompose_trigonometric>);
static_assert(!remove_their_targets<decompose_division>);     // integers divided toward zero stay
static_assert(!remove_their_targets<decompose_comparisons>);  // booleans are their own truth values

const std::vector<double> extremes{0, -0.0, 1, -1, 0.5, -0.5, 1.5, -2.5, 3.5, 1e-3, -1e-6, 1e-20, 7, -10, 30,
    -30, 88, -100, 0.49999997, 1e5, -1e8, 1e20, -1e30, 3e38, 0.999, -0.7, infinity, -infinity, not_a_number,
    0.1};

/// `Op` of one tensor, with the other arguments as given.
template <class Pass, op_tag Op>
std::pmr::string unary(args<Op> a = {}, dtype type = dtype::float32) {
    const auto count = static_cast<std::int64_t>(extremes.size());
    const auto build = [&](program& p) {
        args<Op> b = a;
        b.self = p.input(type, {count});
        p.output(p.make<Op>(b));
    };
    std::vector<double> numbers = extremes;
    if (type == dtype::float16) {
        for (double& x : numbers) x = std::abs(x) > 6e4 && std::isfinite(x) ? 2 : x;
    }
    return compare_runs<Pass>(
        build, {tensor::of(type, {count}, numbers)}, type == dtype::float32 ? 2e-6 : 2e-3);
}

/// `Op` of each number with each other number.
template <class Pass, op_tag Op>
std::pmr::string binary(args<Op> a = {}) {
    const std::vector<double> numbers{0, 1, -1, 0.5, -2, 3, 7.3, -7.3, 1e-3, -10, 100, 1e5, infinity,
        -infinity, not_a_number, 0.1, -0.1, 41};
    const auto count = static_cast<std::int64_t>(numbers.size());
    const auto build = [&](program& p) {
        args<Op> b = a;
        b.self = p.input(dtype::float32, {count, 1});
        b.other = p.input(dtype::float32, {count});
        p.output(p.make<Op>(b));
    };
    return compare_runs<Pass>(build,
        {tensor::of(dtype::float32, {count, 1}, numbers), tensor::of(dtype::float32, {count}, numbers)},
        2e-6);
}

template <class Pass, op_tag Op>
std::pmr::string integers(args<Op> a = {}) {
    const std::vector<double> left{5, -7, 0, 100, -100, 7, -7, 3, 2000000000};
    const std::vector<double> right{3, 2, -7, -9, -9, 7, -7, 5, 7};
    const auto build = [&](program& p) {
        args<Op> b = a;
        b.self = p.input(dtype::int32, {9});
        b.other = p.input(dtype::int32, {9});
        p.output(p.make<Op>(b));
    };
    return compare_runs<Pass>(
        build, {tensor::of(dtype::int32, {9}, left), tensor::of(dtype::int32, {9}, right)}, 0);
}

}  // namespace

TEST_CASE("functions of real numbers") {
    CHECK(unary<decompose_exponentials, aten::sqrt>() == "");
    CHECK(unary<decompose_exponentials, aten::expm1>() == "");
    CHECK(unary<decompose_exponentials, aten::log1p>() == "");
    CHECK(unary<decompose_exponentials, aten::log2>() == "");
    CHECK(unary<decompose_exponentials, aten::log10>() == "");
    CHECK(unary<decompose_exponentials, aten::erfc>() == "");
    CHECK(unary<decompose_pow, aten::exp2>() == "");
    CHECK(unary<decompose_hyperbolic, aten::sinh>() == "");
    CHECK(unary<decompose_hyperbolic, aten::cosh>() == "");
    CHECK(unary<decompose_hyperbolic, aten::asinh>() == "");
    CHECK(unary<decompose_hyperbolic, aten::acosh>() == "");
    CHECK(unary<decompose_hyperbolic, aten::atanh>() == "");
    CHECK(unary<decompose_trigonometric, aten::tan>() == "");
    CHECK(unary<decompose_trigonometric, aten::asin>() == "");
    CHECK(unary<decompose_trigonometric, aten::acos>() == "");
    CHECK(unary<decompose_trigonometric, aten::atan>() == "");
    CHECK(unary<decompose_erfinv, aten::erfinv>() == "");
    CHECK(unary<decompose_hyperbolic, aten::atanh>({}, dtype::float16) == "");
    CHECK(unary<decompose_trigonometric, aten::asin>({}, dtype::float16) == "");
}

TEST_CASE("activations") {
    CHECK(unary<decompose_sigmoids, aten::silu>() == "");
    CHECK(unary<decompose_sigmoids, aten::mish>() == "");
    CHECK(unary<decompose_sigmoids, aten::softplus>() == "");
    CHECK(unary<decompose_sigmoids, aten::softplus>({.self = {}, .beta = 2, .threshold = 5}) == "");
    CHECK(unary<decompose_sigmoids, aten::log_sigmoid>() == "");
    CHECK(unary<decompose_sigmoids, aten::logit>() == "");
    CHECK(unary<decompose_sigmoids, aten::logit>({.self = {}, .eps = 1e-3}) == "");
    CHECK(unary<decompose_sigmoids, aten::logit>({.self = {}, .eps = 0.75}) == "");
    CHECK(unary<decompose_rectifiers, aten::relu>() == "");
    CHECK(unary<decompose_rectifiers, aten::relu6>() == "");
    CHECK(unary<decompose_rectifiers, aten::hardtanh>() == "");
    CHECK(unary<decompose_rectifiers, aten::hardsigmoid>() == "");
    CHECK(unary<decompose_rectifiers, aten::leaky_relu>() == "");
    CHECK(unary<decompose_rectifiers, aten::threshold>({.self = {}, .threshold = 0.5, .value = -7}) == "");
    CHECK(unary<decompose_elu, aten::elu>({.self = {}, .alpha = 2.5}) == "");
    CHECK(unary<decompose_elu, aten::selu>() == "");
    CHECK(unary<decompose_elu, aten::celu>({.self = {}, .alpha = 0.3}) == "");
    const auto gelu = [](std::string_view approximate) {
        return compare_runs<decompose_gelu>([&](program& p) {
            p.output(
                p.make<aten::gelu>({.self = p.input(dtype::float32, {3, 7}), .approximate = approximate}));
        });
    };
    CHECK(gelu("none") == "");
    CHECK(gelu("tanh") == "");
}

TEST_CASE("rounding and predicates") {
    CHECK(unary<decompose_rounding, aten::round>() == "");
    CHECK(unary<decompose_rounding, aten::trunc>() == "");
    CHECK(unary<decompose_rounding, aten::sign>() == "");
    CHECK(unary<decompose_rounding, aten::round>({}, dtype::float16) == "");
    CHECK(unary<decompose_predicates, aten::isnan>() == "");
    CHECK(unary<decompose_predicates, aten::isinf>() == "");
    CHECK(unary<decompose_predicates, aten::isfinite>() == "");
    CHECK(unary<decompose_predicates, aten::nan_to_num>() == "");
    CHECK(unary<decompose_predicates, aten::nan_to_num>({.self = {}, .nan = 1, .posinf = 2, .neginf = -3}) ==
        "");
}

TEST_CASE("division, its remainders and comparisons") {
    CHECK(binary<decompose_division, aten::div_tensor>() == "");
    CHECK(binary<decompose_division, aten::fmod_tensor>() == "");
    CHECK(binary<decompose_division, aten::remainder_tensor>() == "");
    CHECK(binary<decompose_division, aten::floor_divide>() == "");
    CHECK(binary<decompose_comparisons, aten::lt_tensor>() == "");
    CHECK(binary<decompose_comparisons, aten::le_tensor>() == "");
    CHECK(binary<decompose_comparisons, aten::ne_tensor>() == "");
    CHECK(binary<decompose_trigonometric, aten::atan2>() == "");
    CHECK(integers<decompose_division, aten::floor_divide>() == "");
    CHECK(integers<decompose_division, aten::remainder_tensor>() == "");
    CHECK(integers<decompose_division, aten::fmod_tensor>() == "");
    CHECK_THAT(
        [](program& p) {
            const value x = p.input(dtype::int32, {9});
            p.output(p.make<aten::div_tensor_mode>({x, p.input(dtype::int32, {9}), "trunc"}));
        },
        is_left_alone_by<decompose_division>());
    CHECK(integers<decompose_division, aten::div_tensor_mode>({{}, {}, "floor"}) == "");
}

TEST_CASE("a quotient rounded toward zero is that of the nearest float") {
    const auto build = [](program& p) {
        const value a = p.input(dtype::float32, {5});
        p.output(p.make<aten::div_tensor_mode>({a, p.input(dtype::float32, {5}), "trunc"}));
    };
    const std::vector<double> a{7.3, -7.3, 100, infinity, -1};
    const std::vector<double> b{0.5, 2, -3, 2, 0};
    CHECK_THAT(build,
        computes_the_same<decompose_division>().for_inputs(
            {tensor::of(dtype::float32, {5}, a), tensor::of(dtype::float32, {5}, b)}));
}

TEST_CASE("powers") {
    for (const double exponent : {0.0, 1.0, 2.0, 3.0, 7.0, -1.0, -2.0, 1.7, -0.3, 25.0, 30.0}) {
        INFO(exponent);
        CHECK(unary<decompose_pow, aten::pow_tensor_scalar>({.self = {}, .exponent = exponent}) == "");
    }
}

TEST_CASE("powers of integers wrap around, and negative ones are 0 but of 1 and -1") {
    const std::vector<double> base{3, 7, 2, -3, 0, 0, 1, -1, -1, 2, 2147483647};
    const std::vector<double> exponent{40, 2147483647, 32, 21, 0, 5, -3, -3, -2, -1, -2147483648};
    for (const dtype type : {dtype::int32, dtype::int64}) {
        const std::vector inputs{tensor::of(type, {11}, base), tensor::of(type, {11}, exponent)};
        const auto build = [=](program& p) {
            const value x = p.input(type, {11});
            const value y = p.input(type, {11});
            p.output(p.make<aten::pow_tensor_tensor>({x, y}));
            p.output(p.make<aten::pow_scalar>({-3, y}));
        };
        CHECK_THAT(build, computes_the_same<decompose_pow>().for_inputs(inputs));
    }
    const auto known = [](program& p) {
        const value x = p.input(dtype::int8, {3});
        const value y = p.constant<std::int8_t>(dtype::int8, {3}, {0, 5, -1});
        p.output(p.make<aten::pow_tensor_tensor>({x, y}));
    };
    CHECK_THAT(known, computes_the_same<decompose_pow>());
}

TEST_CASE("softmax and norms") {
    for (const std::int64_t axis : {0, -1}) {
        CHECK_THAT(
            [&](program& p) {
                p.output(p.make<aten::softmax_int>({.self = p.input(dtype::float32, {3, 4}), .dim = axis}));
            },
            computes_the_same<decompose_softmax>());
        CHECK_THAT(
            [&](program& p) {
                p.output(
                    p.make<aten::log_softmax_int>({.self = p.input(dtype::float32, {3, 4}), .dim = axis}));
            },
            computes_the_same<decompose_softmax>());
    }
    const std::vector<double> rows{-infinity, -infinity, 1, -infinity, infinity, 2, not_a_number, 0};
    CHECK_THAT(
        [](program& p) {
            p.output(p.make<aten::_safe_softmax>({.self = p.input(dtype::float32, {4, 2}), .dim = 1}));
        },
        computes_the_same<decompose_softmax>().for_inputs({tensor::of(dtype::float32, {4, 2}, rows)}));
    CHECK_THAT(
        [](program& p) {
            p.output(p.make<aten::logsumexp>({.self = p.input(dtype::float32, {4, 2}), .dim = {1}}));
        },
        computes_the_same<decompose_softmax>().for_inputs({tensor::of(dtype::float32, {4, 2}, rows)}));
    for (const double order : {0.0, 1.0, 2.0, 3.0, infinity, -infinity}) {
        INFO(order);
        CHECK_THAT(
            [&](program& p) {
                const value x = p.input(dtype::float32, {3, 4});
                p.output(p.make<aten::linalg_vector_norm>({.self = x, .ord = order, .dim = int_list{1}}));
            },
            computes_the_same<decompose_norms>());
    }
    CHECK_THAT(
        [](program& p) {
            const value x = p.input(dtype::float32, {3, 4});
            p.output(
                p.make<aten::cosine_similarity>({.x1 = x, .x2 = p.input(dtype::float32, {1, 4}), .dim = 0}));
        },
        computes_the_same<decompose_norms>());
}

TEST_CASE("masks, limits and fused arithmetic") {
    CHECK_THAT(
        [](program& p) {
            const value x = p.input(dtype::float32, {2, 3, 3});
            p.output(p.make<aten::tril>({.self = x, .diagonal = -1}));
            p.output(p.make<aten::triu>({.self = x, .diagonal = 1}));
            p.output(p.make<aten::masked_fill_scalar>({x, p.input(dtype::boolean, {3}), -infinity}));
        },
        computes_the_same<decompose_masks>());
    CHECK_THAT(
        [](program& p) {
            const value x = p.input(dtype::float32, {2, 3});
            p.output(p.make<aten::clamp_tensor>({.self = x, .min = p.input(dtype::float32, {3})}));
        },
        computes_the_same<decompose_limits>());
    CHECK_THAT(
        [](program& p) {
            const value x = p.input(dtype::float32, {2, 3});
            const value y = p.input(dtype::float32, {3});
            p.output(p.make<aten::addcmul>({x, x, y, 0.5}));
            p.output(p.make<aten::addcdiv>({x, x, y, 2}));
            p.output(p.make<aten::lerp_scalar>({x, y, 0.8}));
            p.output(p.make<aten::lerp_tensor>({x, y, x}));
        },
        computes_the_same<decompose_fused_arithmetic>());
}
