// SPDX-License-Identifier: MIT
// Defines the kernels of ATen's unary functions.
#include <cmath>
#include <limits>
#include <numbers>

#include <headrace/dialect/aten.hpp>
#include <headrace/eval/element.hpp>
#include <headrace/eval/exponential.hpp>
#include <headrace/eval/kernels.hpp>
#include <headrace/eval/map.hpp>

namespace headrace::eval {

namespace {

/// Rounds halves to even, like Python's round.
[[nodiscard]] inline double round_to_even(double x) { return std::nearbyint(x); }

[[nodiscard]] double inverse_erf(double x) {
    if (std::fabs(x) >= 1) {
        const auto infinity = std::numeric_limits<double>::infinity();
        return std::fabs(x) > 1 ? std::numeric_limits<double>::quiet_NaN() : std::copysign(infinity, x);
    }
    // Winitzki's approximation is good to 2e-3; each of Newton's steps squares the error.
    const double a = 0.147;
    const double logarithm = std::log1p(-x * x);
    const double half = 2 / (std::numbers::pi * a) + logarithm / 2;
    double y = std::copysign(std::sqrt(std::sqrt(half * half - logarithm / a) - half), x);
    for (int step = 0; step != 4; ++step) {
        // Near 1, the complements have more significant digits than the functions themselves.
        const double tail = (1 - std::fabs(x) - std::erfc(std::fabs(y))) * (x < 0 ? -1 : 1);
        const double distance = std::fabs(x) < 0.5 ? std::erf(y) - x : tail;
        y -= distance / (2 * std::numbers::inv_sqrtpi * std::exp(-y * y));
    }
    return y;
}

/// Functions of real numbers, by tag.
[[nodiscard]] inline double apply(aten::acos, double x) { return std::acos(x); }
[[nodiscard]] inline double apply(aten::acosh, double x) { return std::acosh(x); }
[[nodiscard]] inline double apply(aten::asin, double x) { return std::asin(x); }
[[nodiscard]] inline double apply(aten::asinh, double x) { return std::asinh(x); }
[[nodiscard]] inline double apply(aten::atan, double x) { return std::atan(x); }
[[nodiscard]] inline double apply(aten::atanh, double x) { return std::atanh(x); }
[[nodiscard]] inline double apply(aten::cos, double x) { return std::cos(x); }
[[nodiscard]] inline double apply(aten::cosh, double x) { return std::cosh(x); }
[[nodiscard]] inline double apply(aten::deg2rad, double x) { return x * (std::numbers::pi / 180); }
[[nodiscard]] inline double apply(aten::rad2deg, double x) { return x * (180 / std::numbers::pi); }
[[nodiscard]] inline double apply(aten::erf, double x) { return std::erf(x); }
[[nodiscard]] inline double apply(aten::erfc, double x) { return std::erfc(x); }
[[nodiscard]] inline double apply(aten::exp2, double x) { return std::exp2(x); }
[[nodiscard]] inline double apply(aten::expm1, double x) { return std::expm1(x); }
[[nodiscard]] inline double apply(aten::log10, double x) { return std::log10(x); }
[[nodiscard]] inline double apply(aten::log1p, double x) { return std::log1p(x); }
[[nodiscard]] inline double apply(aten::log2, double x) { return std::log2(x); }
[[nodiscard]] inline double apply(aten::sin, double x) { return std::sin(x); }
[[nodiscard]] inline double apply(aten::sinh, double x) { return std::sinh(x); }
[[nodiscard]] inline double apply(aten::tan, double x) { return std::tan(x); }
[[nodiscard]] inline double apply(aten::exp, double x) { return std::exp(x); }
[[nodiscard]] inline float apply(aten::exp, float x) { return table_exponential(x); }
[[nodiscard]] inline double apply(aten::log, double x) { return std::log(x); }
[[nodiscard]] inline double apply(aten::sqrt, double x) { return std::sqrt(x); }
[[nodiscard]] inline double apply(aten::tanh, double x) { return std::tanh(x); }
[[nodiscard]] inline double apply(aten::erfinv, double x) { return inverse_erf(x); }
[[nodiscard]] inline double apply(aten::reciprocal, double x) { return 1 / x; }
[[nodiscard]] inline double apply(aten::rsqrt, double x) { return 1 / std::sqrt(x); }
[[nodiscard]] inline float apply(aten::rsqrt, float x) { return 1 / std::sqrt(x); }
[[nodiscard]] inline double apply(aten::frac, double x) { return x - std::trunc(x); }

template <op_where<aten::dialect, trait::unary> Op>
    requires requires(Op op, double x) { apply(op, x); }
void evaluate(Op, const args<Op>& a, evaluation& e) {
    map_real(e, a.self, [](auto x) { return apply(Op{}, x); });
}

void evaluate(aten::sigmoid, const args<aten::sigmoid>& a, evaluation& e) {
    map_with_exponential(e, a.self, [](auto x, auto exp) { return 1 / (1 + exp(-x)); });
}

/// Functions that also exist for integers, where rounding is the identity.
template <class F>
void map_rounding(evaluation& e, value in, F f) {
    map_unary(e, in, [f]<class T>(T x) -> T {
        if constexpr (std::is_same_v<T, double>) {
            return f(x);
        } else {
            return x;
        }
    });
}
void evaluate(aten::ceil, const args<aten::ceil>& a, evaluation& e) {
    map_rounding(e, a.self, [](double x) { return std::ceil(x); });
}
void evaluate(aten::floor, const args<aten::floor>& a, evaluation& e) {
    map_rounding(e, a.self, [](double x) { return std::floor(x); });
}
void evaluate(aten::round, const args<aten::round>& a, evaluation& e) {
    map_rounding(e, a.self, round_to_even);
}
void evaluate(aten::round_decimals, const args<aten::round_decimals>& a, evaluation& e) {
    // PyTorch's kernel computes each step in the tensor's dtype, which decides ties.
    const auto in_type = [type = e.output_type()](double x) -> double {
        if (type == dtype::float64) return x;
        const auto single = static_cast<float>(x);
        if (type == dtype::float16) return static_cast<float>(static_cast<Eigen::half>(single));
        if (type == dtype::bfloat16) return static_cast<float>(static_cast<Eigen::bfloat16>(single));
        return single;
    };
    const double scale = in_type(std::pow(10.0, std::fabs(static_cast<double>(a.decimals))));
    const bool divide = a.decimals < 0;
    map_rounding(e, a.self, [=](double x) {
        const double scaled = round_to_even(in_type(divide ? x / scale : x * scale));
        return divide ? scaled * scale : scaled / scale;
    });
}
void evaluate(aten::trunc, const args<aten::trunc>& a, evaluation& e) {
    map_rounding(e, a.self, [](double x) { return std::trunc(x); });
}
void evaluate(aten::abs, const args<aten::abs>& a, evaluation& e) {
    map_unary(e, a.self, []<class T>(T x) { return x < T{} ? minus()(T{}, x) : x == T{} ? T{} : x; });
}
void evaluate(aten::neg, const args<aten::neg>& a, evaluation& e) {
    map_unary(e, a.self, []<class T>(T x) { return times()(x, T{-1}); });
}
template <one_of<ops<aten::sign, aten::sgn>> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    map_unary(e, a.self, []<class T>(T x) { return static_cast<T>((T{} < x) - (x < T{})); });
}
void evaluate(aten::square, const args<aten::square>& a, evaluation& e) {
    map_unary(e, a.self, []<class T>(T x) { return times()(x, x); });
}

void evaluate(aten::isfinite, const args<aten::isfinite>& a, evaluation& e) {
    map_test(e, a.self, [](auto x) { return std::isfinite(static_cast<double>(x)); });
}
void evaluate(aten::isinf, const args<aten::isinf>& a, evaluation& e) {
    map_test(e, a.self, [](auto x) { return std::isinf(static_cast<double>(x)); });
}
void evaluate(aten::isnan, const args<aten::isnan>& a, evaluation& e) {
    map_test(e, a.self, [](auto x) { return std::isnan(static_cast<double>(x)); });
}
void evaluate(aten::signbit, const args<aten::signbit>& a, evaluation& e) {
    map_test(e, a.self, [](auto x) { return std::signbit(static_cast<double>(x)); });
}
void evaluate(aten::logical_not, const args<aten::logical_not>& a, evaluation& e) {
    map_test(e, a.self, [](auto x) { return x == decltype(x){}; });
}
void evaluate(aten::bitwise_not, const args<aten::bitwise_not>& a, evaluation& e) {
    const bool logical = e.output_type() == dtype::boolean;
    std::vector<std::int64_t> numbers = e.input(a.self).to<std::int64_t>();
    for (std::int64_t& x : numbers) x = logical ? (x == 0) : ~x;
    e.output().assign(numbers);
}

/// The largest finite number of a float dtype.
[[nodiscard]] double largest_of(dtype t) {
    switch (t) {
        case dtype::float16:
            return 65504.0;
        case dtype::bfloat16:
            return static_cast<double>(std::numeric_limits<Eigen::bfloat16>::max());
        case dtype::float64:
            return std::numeric_limits<double>::max();
        default:
            return static_cast<double>(std::numeric_limits<float>::max());
    }
}
void evaluate(aten::nan_to_num, const args<aten::nan_to_num>& a, evaluation& e) {
    const double limit = largest_of(e.output_type());
    map_rounding(e, a.self, [&](double x) {
        if (std::isnan(x)) return a.nan.value_or(0);
        if (std::isinf(x)) return x > 0 ? a.posinf.value_or(limit) : a.neginf.value_or(-limit);
        return x;
    });
}

constexpr auto kernel = [](auto op, const auto& a, evaluation& e) -> decltype(evaluate(op, a, e)) {
    evaluate(op, a, e);
};

}  // namespace

const kernel_list aten_unary_kernels = kernels_of<aten::dialect>(kernel);

}  // namespace headrace::eval
