// SPDX-License-Identifier: MIT
// Tests ops that a pass decomposes like others, which the tests of that pass run.
#include <limits>

#include <catch2/catch.hpp>

#include <headrace/passes/decompose/decompose_as_strided.hpp>
#include <headrace/passes/decompose/decompose_comparisons.hpp>
#include <headrace/passes/decompose/decompose_exponentials.hpp>
#include <headrace/passes/decompose/decompose_limits.hpp>
#include <headrace/passes/decompose/decompose_masks.hpp>
#include <headrace/passes/decompose/decompose_mean.hpp>
#include <headrace/passes/decompose/decompose_norms.hpp>
#include <headrace/passes/decompose/decompose_pow.hpp>
#include <headrace/passes/decompose/decompose_rectifiers.hpp>
#include <headrace/passes/decompose/decompose_rounding.hpp>
#include <headrace/passes/decompose/decompose_shuffles.hpp>
#include <headrace/passes/decompose/decompose_sigmoids.hpp>
#include <headrace/passes/decompose/decompose_softmax.hpp>
#include <headrace/passes/decompose/decompose_trigonometric.hpp>
#include <headrace/passes/decompose/decompose_var.hpp>

#include "../../support/pass_test.hpp"

using namespace headrace;

namespace {

constexpr dtype fp32 = dtype::float32;
constexpr dtype fp16 = dtype::float16;

constexpr double tolerance_of(dtype type) { return type == fp32 ? 1e-5 : 2e-2; }

/// `make(program&, value)` gives the output for an input [2, 4, 6], random and with what is not finite.
template <class... Passes, class Make>
void check(const Make& make, bool halves = true) {
    for (const dtype type : {fp32, fp16}) {
        if (type == fp16 && !halves) continue;
        INFO(name_of(type));
        CHECK(compare_runs<Passes...>(
                  [&](program& p) {
                      p.output(make(p, p.input(type, {2, 4, 6})));
                  },
                  {}, tolerance_of(type)) == "");
    }
}
/// The same for an input of these numbers.
template <class Pass, class Make>
void check_numbers(const std::vector<double>& numbers, const Make& make) {
    const auto size = static_cast<std::int64_t>(numbers.size());
    CHECK(compare_runs<Pass>([&](program& p) { p.output(make(p, p.input(fp32, {size}))); },
                             {tensor::of(fp32, {size}, numbers)}) == "");
}

constexpr double infinity = std::numeric_limits<double>::infinity();
const std::vector<double> special{0,    -0.0, 0.5, -0.5, 1.5,      -2.5,      3,   -3,
                                  1e-3, -1e6, 1e6, 0.1,  infinity, -infinity, 2.5, -1.5};

}  // namespace

TEST_CASE("rectifiers, gates and rounding") {
    const auto hardswish = [](program& p, value x) { return p.make<aten::hardswish>({x}); };
    const auto softshrink = [](program& p, value x) {
        return p.make<aten::softshrink>({.self = x, .lambd = 0.25});
    };
    check<decompose_rectifiers>(hardswish);
    check<decompose_rectifiers>(softshrink);
    check_numbers<decompose_rectifiers>(special, hardswish);
    check_numbers<decompose_rectifiers>(special, softshrink);
    check<decompose_rectifiers>([](program& p, value x) {
        return p.make<aten::prelu>({x, p.input(meta_of(x)->dtype, {4})});
    });
    check<decompose_rectifiers>([](program& p, value x) {
        return p.make<aten::prelu>({x, p.input(meta_of(x)->dtype, {1})});
    });
    check<decompose_rectifiers>([](program& p, value x) {
        return p.make<aten::_prelu_kernel>({x, p.input(meta_of(x)->dtype, {1, 4, 1})});
    });
    for (const std::int64_t dim : {-1, 1, 0}) {
        check<decompose_sigmoids>([=](program& p, value x) { return p.make<aten::glu>({x, dim}); });
    }
    const auto log_sigmoid = [](program& p, value x) {
        return p.make_node<aten::log_sigmoid_forward>({x}).result(0);
    };
    check<decompose_sigmoids>(log_sigmoid);
    check_numbers<decompose_sigmoids>(special, log_sigmoid);
    const auto sgn = [](program& p, value x) { return p.make<aten::sgn>({x}); };
    check<decompose_rounding>(sgn);
    check_numbers<decompose_rounding>(special, sgn);
    check_numbers<decompose_rounding>({0, 0.5, -0.5, 2.75, -2.75, 1e6},
                                      [](program& p, value x) { return p.make<aten::frac>({x}); });
    for (const std::int64_t decimals : {0, 1, 2}) {
        check_numbers<decompose_rounding>({0, 0.5, -0.5, 2.756, -2.754, 123.4567, 0.25},
                                          [=](program& p, value x) {
                                              return p.make<aten::round_decimals>({x, decimals});
                                          });
    }
}

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
    for (const scalar base : {scalar(2), scalar(0.5), scalar(1)}) {
        check<decompose_pow>([=](program& p, value x) { return p.make<aten::pow_scalar>({base, x}); });
    }
}

TEST_CASE("norms and deviations") {
    for (const scalar p_norm : {scalar(1), scalar(2), scalar(3), scalar(infinity)}) {
        CAPTURE(p_norm.to_double());
        check<decompose_norms>([=](program& p, value x) { return p.make<aten::norm_scalar>({x, p_norm}); });
        check<decompose_norms>([=](program& p, value x) {
            return p.make<aten::norm_scalaropt_dim>({x, p_norm, {1, -1}, true});
        });
    }
    for (const bool unbiased : {false, true}) {
        check<decompose_var, decompose_mean>([=](program& p, value x) {
            return p.make<aten::std_>({x, unbiased});
        });
        check<decompose_var, decompose_mean>([=](program& p, value x) {
            return p.make<aten::std_dim>({x, int_list{0, 2}, unbiased, unbiased});
        });
    }
}

TEST_CASE("softmax by its other names, and shuffled channels") {
    for (const std::int64_t dim : {0, 1, -1}) {
        check<decompose_softmax>([=](program& p, value x) {
            return p.make<aten::_softmax>({x, dim, false});
        });
        check<decompose_softmax>([=](program& p, value x) {
            return p.make<aten::_log_softmax>({x, dim, false});
        });
    }
    for (const std::int64_t groups : {1, 2, 4}) {
        check<decompose_shuffles>([=](program& p, value x) {
            return p.make<aten::channel_shuffle>({x, groups});
        });
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
    const std::vector<tensor> numbers{tensor::of(fp32, {size}, left), tensor::of(fp32, {size}, right)};
    const auto check_pairs = [&]<class Pass, class Op>(Pass, Op) {
        INFO(Op::name);
        CHECK(compare_runs<Pass>(
                  [=](program& p) {
                      p.output(p.make<Op>({p.input(fp32, {size}), p.input(fp32, {size})}));
                  },
                  numbers, 1e-5) == "");
        CHECK(compare_runs<Pass>([](program& p) {
                  p.output(p.make<Op>({p.input(fp32, {3, 1}), p.input(fp32, {2, 1, 4})}));
              }) == "");
    };
    check_pairs(decompose_limits{}, aten::fmax{});
    check_pairs(decompose_limits{}, aten::fmin{});
    check_pairs(decompose_rounding{}, aten::copysign_tensor{});
    check_pairs(decompose_exponentials{}, aten::hypot{});
    check_pairs(decompose_exponentials{}, aten::logaddexp{});
    check_pairs(decompose_exponentials{}, aten::xlogy_tensor{});
}

TEST_CASE("degrees, signs, shrinking, and sums without NaN") {
    check<decompose_trigonometric>([](program& p, value x) { return p.make<aten::deg2rad>({x}); });
    check<decompose_trigonometric>([](program& p, value x) { return p.make<aten::rad2deg>({x}); });
    const auto hardshrink = [](program& p, value x) {
        return p.make<aten::hardshrink>({.self = x, .lambd = 0.25});
    };
    check<decompose_rectifiers>(hardshrink);
    check_numbers<decompose_rectifiers>(special, hardshrink);
    check_numbers<decompose_rounding>(special,
                                      [](program& p, value x) { return p.make<aten::signbit>({x}); });
    std::vector<double> holes = special;
    holes[2] = std::numeric_limits<double>::quiet_NaN();
    holes[12] = holes[13] = 1;
    check_numbers<decompose_mean>(holes, [](program& p, value x) { return p.make<aten::nansum>({x}); });
    check<decompose_mean>([](program& p, value x) {
        return p.make<aten::nansum>({.self = x, .dim = int_list{0, -1}, .keepdim = true});
    });
}

TEST_CASE("numbers as truth values") {
    const auto rounded = [](program& p, dtype type) { return p.make<aten::round>({p.input(type, {3, 4})}); };
    const auto check_truth = [&](const auto& make) {
        CHECK(compare_runs<decompose_comparisons>([&](program& p) { p.output(make(p, rounded(p, fp32))); }) ==
              "");
    };
    check_truth([](program& p, value x) { return p.make<aten::logical_not>({x}); });
    check_truth(
        [](program& p, value x) { return p.make<aten::_to_copy>({.self = x, .dtype = dtype::boolean}); });
    check_truth([](program& p, value x) { return p.make<aten::any_dim>({.self = x, .dim = 1}); });
    check_truth([](program& p, value x) { return p.make<aten::all>({x}); });
    check_truth([&](program& p, value x) { return p.make<aten::logical_xor>({x, rounded(p, fp32)}); });
    check_truth([](program& p, value x) {
        return p.make<aten::logical_or>({p.input(dtype::boolean, {4}), x});
    });
}
