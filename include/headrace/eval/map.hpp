// SPDX-License-Identifier: MIT
// Defines the loops of elementwise kernels: headrace::map_unary, map_real, map_binary and others.
#ifndef HEADRACE_EVAL_MAP_HPP
#define HEADRACE_EVAL_MAP_HPP

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <span>
#include <vector>

#include <headrace/eval/iterate.hpp>
#include <headrace/infer/promotion.hpp>

namespace headrace::eval {

// Kernels compute in double or int64. Rounding one +, -, *, / or sqrt of doubles to float gives the result of
// float arithmetic, and longer formulas are at least as precise as PyTorch's. Kernels that dominate run time,
// and whose order of operations in PyTorch is known, compute in float, bit for bit.

/// Returns elements as doubles, rounded to `compute` first, as PyTorch casts operands to the common dtype.
[[nodiscard]] inline std::vector<double> to_real(const tensor& t, dtype compute) {
    std::vector<double> numbers = t.to<double>();
    const bool exact = compute == dtype::float64 || (is_floating(t.type()) && t.type() != dtype::float64);
    if (!exact) {
        for (double& x : numbers) x = static_cast<double>(static_cast<float>(x));
    }
    return numbers;
}

/// Returns an operand of a binary kernel: a tensor, or a Python number as a tensor of rank 0.
[[nodiscard]] inline tensor operand(const evaluation& e, value v) { return e.input(v); }
[[nodiscard]] inline tensor operand(const evaluation&, const scalar& s) {
    if (s.is_floating()) return tensor::of_number(dtype::float64, s.to_double());
    return tensor::of_number(
        s.kind() == scalar::kind_type::boolean ? dtype::boolean : dtype::int64, s.to_int());
}

/// Returns a Python number as PyTorch uses it with tensors of dtype `t`.
template <class T>
[[nodiscard]] T number_as(const scalar& s, dtype t) {
    if constexpr (std::is_floating_point_v<T>) {
        return static_cast<T>(
            t == dtype::float64 ? s.to_double() : static_cast<double>(static_cast<float>(s.to_double())));
    } else {
        return is_boolean(t) ? static_cast<T>(s.to_double() != 0) : s.to_int();
    }
}

/// A Python number in each type that kernels compute in, for functions of elements of any type.
class constant_number {
public:
    constant_number(const scalar& s, dtype t)
        : real_(number_as<double>(s, t)), integer_(is_floating(t) ? 0 : number_as<std::int64_t>(s, t)) {}
    template <class T>
    [[nodiscard]] T as() const {
        if constexpr (std::is_floating_point_v<T>) {
            return static_cast<T>(real_);
        } else {
            return integer_;
        }
    }

private:
    double real_;
    std::int64_t integer_;
};

template <class T>
[[nodiscard]] std::vector<T> to_numbers(const tensor& t, dtype compute) {
    if constexpr (std::is_same_v<T, double>) {
        return to_real(t, compute);
    } else {
        return t.to<T>();
    }
}

/// Calls `f(T{})` with the type that kernels compute in for that dtype.
template <class F>
void visit_compute(dtype t, F f) {
    if (is_floating(t)) {
        f(double{});
    } else {
        f(std::int64_t{});
    }
}

/// True if both the operand and the result are float32.
[[nodiscard]] inline bool is_float32(evaluation& e, value in) {
    return e.input(in).type() == dtype::float32 && e.output_type() == dtype::float32;
}
template <class T, class F>
void map_as(evaluation& e, value in, F f) {
    std::vector<T> numbers = e.input(in).to<T>();
    for (T& x : numbers) x = f(x);
    e.output().assign(numbers);
}

/// Computes `f(x)` for functions of real numbers: integers and booleans are converted to the result's float
/// type first, which matters for the sine of a large number. If f has a float version, it is used for
/// float32, so that each step is rounded as in PyTorch.
template <class F>
void map_real(evaluation& e, value in, F f) {
    if constexpr (std::is_same_v<decltype(f(float{})), float>) {
        if (is_float32(e, in)) return map_as<float>(e, in, f);
    }
    std::vector<double> numbers = to_real(e.input(in), e.output_type());
    for (double& x : numbers) x = f(x);
    e.output().assign(numbers);
}

/// Computes `f(x)` in double or int64, by the result's dtype.
template <class F>
void map_unary(evaluation& e, value in, F f) {
    visit_compute(e.output_type(), [&]<class T>(T) {
        std::vector<T> numbers = to_numbers<T>(e.input(in), e.output_type());
        for (T& x : numbers) x = f(x);
        e.output().assign(numbers);
    });
}

/// Computes `f(x)` for functions that return one of their arguments: float32 is not converted, and is
/// computed in blocks of fixed size, which compilers vectorize without data-dependent branches.
template <class F>
void map_selection(evaluation& e, value in, F f) {
    if (!is_float32(e, in)) return map_unary(e, in, f);
    const std::span<const float> from = e.input(in).data<float>();
    const std::span<float> to = e.output().mutable_data<float>();
    std::array<float, 16> block{};
    std::size_t i = 0;
    for (; i + block.size() <= from.size(); i += block.size()) {
        for (std::size_t k = 0; k != block.size(); ++k) block[k] = f(from[i + k]);
        for (std::size_t k = 0; k != block.size(); ++k) to[i + k] = block[k];
    }
    for (; i != from.size(); ++i) to[i] = f(from[i]);
}

/// Computes a boolean `f(x)` in double or int64, by the operand's dtype.
template <class F>
void map_test(evaluation& e, value in, F f) {
    visit_compute(e.input(in).type(), [&]<class T>(T) {
        const std::vector<T> numbers = e.input(in).to<T>();
        std::vector<std::int64_t> flags(numbers.size());
        std::ranges::transform(numbers, flags.begin(), [&](T x) { return std::int64_t{f(x)}; });
        e.output().assign(flags);
    });
}

/// Computes `f(a, b)` with broadcasting; T is double or int64.
template <class T, class F>
void broadcast_binary(tensor& out, const tensor& a, const tensor& b, dtype compute, F f) {
    const std::vector<T> left = to_numbers<T>(a, compute);
    const std::vector<T> right = to_numbers<T>(b, compute);
    using number = decltype(f(T{}, T{}));
    using stored = std::conditional_t<std::is_same_v<number, bool>, std::int64_t, number>;
    std::vector<stored> numbers(idx(out.size()));
    auto at_out = numbers.begin();
    for_each_index<2>(out.shape(),
        {broadcast_strides(a.shape(), out.shape()), broadcast_strides(b.shape(), out.shape())},
        [&](const auto& at) { *at_out++ = f(left[idx(at[0])], right[idx(at[1])]); });
    out.assign(numbers);
}

/// Arithmetic, in the dtype of the result.
template <class A, class B, class F>
void map_binary(evaluation& e, const A& a, const B& b, F f) {
    visit_compute(e.output_type(), [&]<class T>(T) {
        broadcast_binary<T>(e.output(), operand(e, a), operand(e, b), e.output_type(), f);
    });
}
/// Quotients and remainders, in the dtype of the result: dividing integers by 0 is an error, as in PyTorch.
template <class A, class B, class F>
void map_division(evaluation& e, const A& a, const B& b, F f) {
    if (!is_floating(e.output_type())) {
        const std::vector<std::int64_t> divisors = operand(e, b).template to<std::int64_t>();
        if (std::ranges::find(divisors, 0) != divisors.end()) return e.fail("an integer is divided by 0");
    }
    map_binary(e, a, b, f);
}
/// Arithmetic that only floats have, in the dtype of the result.
template <class A, class B, class F>
void map_binary_real(evaluation& e, const A& a, const B& b, F f) {
    broadcast_binary<double>(e.output(), operand(e, a), operand(e, b), e.output_type(), f);
}

[[nodiscard]] inline tensor_meta promotion_operand(const evaluation& e, value v) {
    return {.dtype = e.input(v).type(), .shape = int_list(e.input(v).shape())};
}
[[nodiscard]] inline const scalar& promotion_operand(const evaluation&, const scalar& s) { return s; }

/// Comparisons, in the dtype that the operands promote to.
template <class A, class B, class F>
void map_compare(evaluation& e, const A& a, const B& b, F f) {
    const dtype common = result_type(promotion_operand(e, a), promotion_operand(e, b));
    visit_compute(common,
        [&]<class T>(T) { broadcast_binary<T>(e.output(), operand(e, a), operand(e, b), common, f); });
}

// Integer arithmetic wraps around; no data may cause a trap.

[[nodiscard]] constexpr std::int64_t wrapping(std::uint64_t v) { return static_cast<std::int64_t>(v); }

struct plus {
    float operator()(float a, float b) const { return a + b; }
    double operator()(double a, double b) const { return a + b; }
    std::int64_t operator()(std::int64_t a, std::int64_t b) const {
        return wrapping(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
    }
};
struct minus {
    float operator()(float a, float b) const { return a - b; }
    double operator()(double a, double b) const { return a - b; }
    std::int64_t operator()(std::int64_t a, std::int64_t b) const {
        return wrapping(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
    }
};
struct times {
    float operator()(float a, float b) const { return a * b; }
    double operator()(double a, double b) const { return a * b; }
    std::int64_t operator()(std::int64_t a, std::int64_t b) const {
        return wrapping(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
    }
};
/// Returns the larger number; NaN if either is NaN.
struct larger {
    double operator()(double a, double b) const { return std::isnan(a) || a > b ? a : b; }
    std::int64_t operator()(std::int64_t a, std::int64_t b) const { return a > b ? a : b; }
};
struct smaller {
    double operator()(double a, double b) const { return std::isnan(a) || a < b ? a : b; }
    std::int64_t operator()(std::int64_t a, std::int64_t b) const { return a < b ? a : b; }
};
/// Quotients of integers. The divisors 0, which PyTorch refuses, and -1, which may overflow, are handled
/// separately.
struct quotient_toward_zero {
    double operator()(double a, double b) const { return std::trunc(a / b); }
    std::int64_t operator()(std::int64_t a, std::int64_t b) const {
        return b == 0 ? 0 : b == -1 ? minus()(std::int64_t{0}, a) : a / b;
    }
};
struct quotient_floor {
    double operator()(double a, double b) const {
        if (b == 0) return a / b;
        const double rest = std::fmod(a, b);
        const double quotient =
            std::round((a - rest) / b);  // an exact division, except for the rounding of the operands
        return rest != 0 && (rest < 0) != (b < 0) ? quotient - 1
            : quotient == 0                       ? std::copysign(0.0, a / b)
                                                  : quotient;
    }
    std::int64_t operator()(std::int64_t a, std::int64_t b) const {
        const std::int64_t q = quotient_toward_zero()(a, b);
        return b != 0 && b != -1 && a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
    }
};
/// The remainder with the sign of the dividend, as in C.
struct remainder_of_dividend {
    double operator()(double a, double b) const { return std::fmod(a, b); }
    std::int64_t operator()(std::int64_t a, std::int64_t b) const { return b == 0 || b == -1 ? 0 : a % b; }
};
/// The remainder with the sign of the divisor, as in Python.
struct remainder_of_divisor {
    template <class T>
    T operator()(T a, T b) const {
        const T rest = remainder_of_dividend()(a, b);
        return rest != T{} && (rest < T{}) != (b < T{}) ? rest + b : rest;
    }
};
struct power {
    double operator()(double a, double b) const { return std::pow(a, b); }
    std::int64_t operator()(std::int64_t a, std::int64_t b) const {
        if (b < 0) return a == 1 ? 1 : a == -1 ? (b % 2 == 0 ? 1 : -1) : 0;
        std::int64_t result = 1;
        for (; b != 0; b >>= 1, a = times()(a, a)) result = (b & 1) != 0 ? times()(result, a) : result;
        return result;
    }
};

/// Returns `x` limited to [low, high]; NaN stays NaN.
template <class T>
[[nodiscard]] T limited(T x, T low, T high) {
    const T least = low < high ? low : high;
    const T below = x > high ? high : x;
    return x < low ? least : below;
}

}  // namespace headrace::eval

#endif
