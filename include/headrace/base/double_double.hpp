// SPDX-License-Identifier: MIT
// Defines headrace::double_double, which headrace/base/wide_float.hpp takes where long double has 53 digits.
#ifndef HEADRACE_BASE_DOUBLE_DOUBLE_HPP
#define HEADRACE_BASE_DOUBLE_DOUBLE_HPP

#include <bit>
#include <cmath>
#include <compare>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace headrace {

/// A number of 106 binary digits and the exponents of double: the sum of two doubles, of which the second is
/// at most half a unit in the last place of the first (Hida, Li and Bailey, "Library for double-double and
/// quad-double arithmetic", 2007). Boost.Multiprecision 1.74 has no binary floats for constant expressions.
class double_double {
public:
    constexpr double_double() = default;
    // Conversions are implicit where those to long double are.
    template <std::integral T>
    constexpr double_double(T x)  // NOLINT(google-explicit-constructor)
        : double_double(sum_of(static_cast<double>(whole<T>{x} >> 32) * 0x1p32,
              static_cast<double>(whole<T>{x} & 0xFFFFFFFF))) {}
    template <std::floating_point T>
    constexpr double_double(T x)  // NOLINT(google-explicit-constructor)
        : high_(static_cast<double>(x)) {
        if constexpr (std::numeric_limits<T>::digits > std::numeric_limits<double>::digits) {
            if (is_finite(high_)) low_ = static_cast<double>(x - static_cast<T>(high_));
        }
    }

    /// Rounds toward zero. The integer must fit.
    template <std::integral T>
    explicit constexpr operator T() const {
        const double_double integer = *this < 0 ? -(-*this).floor() : floor();
        const double upper = (integer * 0x1p-32).floor().high_;
        const double lower = (integer - double_double(upper) * 0x1p32).high_;
        return static_cast<T>(
            static_cast<whole<T>>(upper) * (whole<T>{1} << 32) + static_cast<whole<T>>(lower));
    }
    template <std::floating_point T>
    explicit constexpr operator T() const {
        return static_cast<T>(high_) + static_cast<T>(low_);
    }

    friend constexpr bool operator==(const double_double&, const double_double&) = default;
    friend constexpr auto operator<=>(const double_double&, const double_double&) = default;

    constexpr double_double operator-() const { return {-high_, -low_}; }
    friend constexpr double_double operator+(const double_double& a, const double_double& b) {
        const double_double high = sum_of(a.high_, b.high_);
        if (!is_finite(high.high_)) return high;
        const double_double low = sum_of(a.low_, b.low_);
        const double_double sum = normal(high.high_, high.low_ + low.high_);
        return normal(sum.high_, sum.low_ + low.low_);
    }
    friend constexpr double_double operator-(const double_double& a, const double_double& b) {
        return a + -b;
    }
    friend constexpr double_double operator*(const double_double& a, const double_double& b) {
        const double product = a.high_ * b.high_;
        if (!is_finite(product)) return product;
        const double error = error_of_product(a.high_, b.high_, product);
        return normal(product, error + (a.high_ * b.low_ + a.low_ * b.high_));
    }
    /// Has 96 digits: so quotients of 64-bit integers that are integers are exact.
    friend constexpr double_double operator/(const double_double& a, const double_double& b) {
        double_double quotient = a.high_ / b.high_;
        // Each step of a long division gives 53 digits more.
        for (int i = 0; i != 2; ++i) {
            const double_double rest = a - b * quotient;
            if (!is_finite(quotient.high_) || !is_finite(rest.high_)) return quotient;
            quotient = quotient + rest.high_ / b.high_;
        }
        const double unit = quotient.high_ * 0x1p-44;
        return normal(quotient.high_, (quotient.low_ + unit) - unit);
    }
    constexpr double_double& operator+=(const double_double& b) { return *this = *this + b; }
    constexpr double_double& operator-=(const double_double& b) { return *this = *this - b; }
    constexpr double_double& operator*=(const double_double& b) { return *this = *this * b; }

    [[nodiscard]] constexpr double_double floor() const {
        const double high = floor_of(high_);
        return high == high_ ? normal(high, floor_of(low_)) : double_double(high, 0);
    }
    [[nodiscard]] double_double scaled(int exponent) const {
        return {std::ldexp(high_, exponent), std::ldexp(low_, exponent)};
    }

private:
    template <class T>
    using whole = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;

    constexpr double_double(double high, double low) : high_(high), low_(low) {}

    // Comparisons, since constant expressions must not compute NaN.
    static constexpr bool is_finite(double x) {
        constexpr double most = std::numeric_limits<double>::max();
        return -most <= x && x <= most;
    }
    // The exact sum of two numbers of which the first is not the smaller one.
    static constexpr double_double normal(double high, double low) {
        const double sum = high + low;
        return is_finite(sum) ? double_double(sum, low - (sum - high)) : double_double(sum, 0);
    }
    static constexpr double_double sum_of(double a, double b) {
        const double sum = a + b;
        if (!is_finite(sum)) return sum;
        const double of_b = sum - a;
        return {sum, (a - (sum - of_b)) + (b - of_b)};
    }
    // The first 26 digits, whose products are exact.
    static constexpr double upper_half(double x) {
        return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) & ~std::uint64_t{0x7FFFFFF});
    }
    static constexpr double error_of_product(double a, double b, double product) {
        const double a1 = upper_half(a);
        const double a2 = a - a1;
        const double b1 = upper_half(b);
        const double b2 = b - b1;
        return ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2;
    }
    // std::floor is not for constant expressions.
    static constexpr double floor_of(double x) {
        if (!(-0x1p52 < x && x < 0x1p52)) return x;
        const auto toward_zero = static_cast<double>(static_cast<std::int64_t>(x));
        return toward_zero > x ? toward_zero - 1 : toward_zero;
    }

    double high_ = 0;
    double low_ = 0;
};

namespace wide {

inline bool isinf(const double_double& x) { return std::isinf(static_cast<double>(x)); }
constexpr double_double abs(const double_double& x) { return x < 0 ? -x : x; }
constexpr double_double floor(const double_double& x) { return x.floor(); }
constexpr double_double ceil(const double_double& x) { return -(-x).floor(); }
constexpr double_double trunc(const double_double& x) { return x < 0 ? ceil(x) : floor(x); }
constexpr double_double fmod(const double_double& x, const double_double& y) { return x - y * trunc(x / y); }
/// Ties to even.
constexpr double_double nearbyint(const double_double& x) {
    const double_double below = floor(x);
    const double_double rest = x - below;
    return rest > 0.5 || (rest == 0.5 && fmod(below, 2) != 0) ? below + 1 : below;
}
inline double_double ldexp(const double_double& x, int exponent) { return x.scaled(exponent); }

// These have the digits of double.
inline double_double exp(const double_double& x) { return std::exp(static_cast<double>(x)); }
inline double_double exp2(const double_double& x) { return std::exp2(static_cast<double>(x)); }
inline double_double log2(const double_double& x) { return std::log2(static_cast<double>(x)); }

/// Has all digits if the exponent is a whole number that is not negative, else those of double.
inline double_double pow(const double_double& x, const double_double& exponent) {
    if (!(exponent >= 0 && exponent < 0x1p62 && exponent == floor(exponent)))
        return std::pow(static_cast<double>(x), static_cast<double>(exponent));
    double_double power = 1;
    double_double square = x;
    for (auto rest = static_cast<std::uint64_t>(exponent); rest != 0; rest /= 2) {
        if (rest % 2 != 0) power *= square;
        square *= square;
    }
    return power;
}

}  // namespace wide

}  // namespace headrace

#endif
