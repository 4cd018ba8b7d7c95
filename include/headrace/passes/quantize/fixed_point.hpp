// SPDX-License-Identifier: MIT
// Defines headrace::fixed_point, operands of integer arithmetic, and how they come to one scale.
#ifndef HEADRACE_PASSES_QUANTIZE_FIXED_POINT_HPP
#define HEADRACE_PASSES_QUANTIZE_FIXED_POINT_HPP

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <memory_resource>
#include <optional>
#include <vector>

#include <headrace/passes/quantize/dequantized.hpp>

namespace headrace {

/// An operand of arithmetic on codes: a dequantized value, per tensor, or a constant, which can be had at any
/// scale.
struct fixed_point {
    std::optional<dequantized> read;
    value constant{};
    std::pmr::vector<double> numbers{};  ///< of the constant

    /// The largest magnitude among the real numbers that it can be.
    [[nodiscard]] double reach() const {
        if (read) return read->parameters.reach() * read->parameters.scale();
        double most = 0;
        for (const double x : numbers) most = std::max(most, std::abs(x));
        return most;
    }
};

/// Codes with a scale for each channel as INT32 codes of one, as fine as the finest that has room; finer
/// where codes are short, so that those of other channels are not rounded to the same steps.
template <class E>
dequantized with_one_scale(E& e, const dequantized& d) {
    constexpr double room = 1 << 29;
    const auto [least, most] = std::minmax_element(d.parameters.scales.begin(), d.parameters.scales.end());
    const double reach = d.parameters.reach() * *most;
    const int bits = e.dtype(d.codes) == dtype::int32 ? 0 : 10;
    const double scale = std::max(std::ldexp(*least, -bits), reach / room);
    const auto highest = static_cast<std::int64_t>(std::ceil(reach / scale));
    const auto to = quantization::per_tensor(scale, 0, -highest, highest);
    return {rescale_codes(e, d, to, dtype::int32), to};
}

template <class E>
std::optional<fixed_point> as_fixed_point(E& e, value v) {
    if (auto read = as_dequantized(e, v)) {
        constexpr double most = 1 << 30;
        if (e.dtype(read->codes) == dtype::int48) return std::nullopt;
        if (!read->parameters.is_per_tensor()) return fixed_point{with_one_scale(e, *read)};
        const quantization& q = read->parameters;
        if (q.scale() == 1 && q.reach() > most) return std::nullopt;
        return fixed_point{std::move(read)};
    }
    auto numbers = constant_reals(v);
    if (!numbers) return std::nullopt;
    for (const double x : *numbers) {
        if (!std::isfinite(x)) return std::nullopt;
    }
    return fixed_point{std::nullopt, v, std::move(*numbers)};
}

/// Two operands of arithmetic of real numbers, at least one of which is not constant. Integers of 32 bits
/// that may be of any size are not taken: no scale is fine enough and has room for them.
template <class E>
std::optional<std::pair<fixed_point, fixed_point>> as_fixed_points(E& e, value a, value b) {
    if (!detail::is_real(a) && !detail::is_real(b)) return std::nullopt;
    auto x = as_fixed_point(e, a);
    if (!x) return std::nullopt;
    auto y = as_fixed_point(e, b);
    if (!y || (!x->read && !y->read)) return std::nullopt;
    return std::pair(std::move(*x), std::move(*y));
}

/// A scale at which operands can be added up in 32 bits. That of an operand that has 32 bits already, where
/// the others have room at it and are not coarse beside it; else the largest scale, divided by a power of
/// two: 2^19 where that leaves 8-bit codes room (10 bits for them, and sums of two below 2^30, as RESCALE
/// wants).
template <class E>
double working_scale(E& e, std::initializer_list<const fixed_point*> operands) {
    constexpr int most_bits = 19;
    constexpr int least_bits = 10;
    constexpr double room = 1 << 29;
    double scale = 0;
    double reach = 0;
    std::optional<double> accumulated;
    for (const fixed_point* x : operands) {
        reach = std::max(reach, x->reach());
        if (!x->read) continue;
        const quantization& q = x->read->parameters;
        if (e.dtype(x->read->codes) == dtype::int32 && q.zero_point() == 0) {
            accumulated = std::min(q.scale(), accumulated.value_or(q.scale()));
        } else {
            scale = std::max(scale, q.scale());
        }
    }
    if (accumulated && reach / *accumulated <= room &&
        (scale == 0 || *accumulated <= std::ldexp(scale, -least_bits)))
        return *accumulated;
    scale = std::max(scale, accumulated.value_or(0));
    const int bits = static_cast<int>(std::floor(std::log2(room * scale / std::max(reach, scale))));
    return std::ldexp(scale, -std::min(most_bits, bits));
}

using fixed_point_ops = joined<requantize_ops, build::reshape_ops>;

/// The operand as INT32 codes of that scale with zero point 0.
template <class E>
value at_scale(E& e, const fixed_point& x, double scale) {
    if (x.read) {
        const quantization& q = x.read->parameters;
        if (e.dtype(x.read->codes) == dtype::int32 && q.scale() == scale && q.zero_point() == 0)
            return x.read->codes;
        return build::rescale(e, x.read->codes, q.scale() / scale,
                              {.input_zero = q.zero_point(), .reach = q.reach()});
    }
    return e.constant({dtype::int32, e.shape(x.constant), {}}, [&](std::span<std::byte> data) {
        for (std::size_t i = 0; i != x.numbers.size(); ++i) {
            const double code = std::clamp(std::nearbyint(x.numbers[i] / scale), -2147483647.0, 2147483647.0);
            detail::store_element(static_cast<std::int64_t>(code), dtype::int32, &data[i * 4]);
        }
    });
}

/// INT32 codes with zero point 0 as real numbers again. `reach` is their largest magnitude.
template <class E>
value from_scale(E& e, value codes, double scale, double reach) {
    const auto most = static_cast<std::int64_t>(std::min(std::ceil(reach), 2147483647.0));
    return dequantize(e, {codes, quantization::per_tensor(scale, 0, -most, most)});
}

}  // namespace headrace

#endif
