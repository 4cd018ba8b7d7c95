// SPDX-License-Identifier: MIT
// Defines headrace::u55's arithmetic on INT32 and tables of INT8, and headrace::u55::interval_of, the range
// of a value.
#ifndef HEADRACE_PASSES_U55_INT32_HPP
#define HEADRACE_PASSES_U55_INT32_HPP

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/passes/quantize/quantization.hpp>
#include <headrace/passes/support/build.hpp>
#include <headrace/passes/support/constants.hpp>

namespace headrace::u55 {

/// Makes a number of the rank of a value, to compute with it.
inline value splat(emit<ops<>> e, std::int64_t number, value beside) {
    return e.splat(number, dtype::int32, e.rank(beside));
}
inline value constant(emit<ops<>> e, sizes shape, const pmr_vector<std::int64_t>& numbers) {
    const pmr_vector<std::int32_t> elements(numbers.begin(), numbers.end());
    return e.constant<std::int32_t>(dtype::int32, shape, elements);
}

/// Casts integers to INT32; a constant remains one, so that it can still be read.
inline value widen(emit<ops<tosa::cast>> e, value v) {
    if (e.dtype(v) == dtype::int32) return v;
    if (const auto numbers = constant_integers(v)) return constant(e, e.shape(v), *numbers);
    return e.make<tosa::cast>({.input = v, .output_type = dtype::int32});
}

/// The only right shift of Ethos-U55; it rounds half up.
inline value rounded_shift(emit<ops<tosa::arithmetic_right_shift>> e, value v, value by) {
    return e.make<tosa::arithmetic_right_shift>({.input1 = v, .input2 = by, .round = true});
}

inline value clamp(
    emit<ops<tosa::maximum, tosa::minimum>> e, value v, std::int64_t least, std::int64_t greatest) {
    return e.make<tosa::minimum>(e.make<tosa::maximum>(v, splat(e, least, v)), splat(e, greatest, v));
}

/// Applies `f(number)` to each INT8 element, from -128 to 127, by a table.
template <class F>
value table(emit<ops<tosa::table>> e, value v, F&& f) {
    constexpr std::int64_t count = 256;
    std::array<std::int8_t, count> entries{};
    for (std::int64_t i = 0; i != count; ++i)
        entries[static_cast<std::size_t>(i)] = static_cast<std::int8_t>(f(i - 128));
    return e.make<tosa::table>(
        {.input1 = v, .table = e.constant<std::int8_t>(dtype::int8, sizes(&count, 1), entries)});
}

/// The numbers from `least` to `most`.
struct interval {
    std::int64_t least = 0;
    std::int64_t most = 0;

    [[nodiscard]] static interval of_type(dtype type) {
        const auto [lowest, highest] = range_of(type);
        return {lowest, highest};
    }
    /// Returns the largest magnitude.
    [[nodiscard]] std::int64_t reach() const { return std::max(std::abs(least), std::abs(most)); }
    [[nodiscard]] bool lies_in(const interval& other) const {
        return least >= other.least && most <= other.most;
    }
    [[nodiscard]] bool fits(dtype type) const { return lies_in(of_type(type)); }

    friend interval max(const interval& x, const interval& y) {
        return {std::max(x.least, y.least), std::max(x.most, y.most)};
    }
    friend interval min(const interval& x, const interval& y) {
        return {std::min(x.least, y.least), std::min(x.most, y.most)};
    }
    friend interval operator+(const interval& x, const interval& y) {
        return {x.least + y.least, x.most + y.most};
    }
    friend interval operator-(const interval& x, const interval& y) {
        return {x.least - y.most, x.most - y.least};
    }
    friend interval operator*(const interval& x, const interval& y) {
        const auto [lowest, highest] =
            std::minmax({x.least * y.least, x.least * y.most, x.most * y.least, x.most * y.most});
        return {lowest, highest};
    }
};

/// Bounds a value by following its producers up to a maximum depth.
class interval_reader {
public:
    [[nodiscard]] interval of(value v, int depth) const {
        const tensor_meta* meta = v ? meta_of(v) : nullptr;
        if (meta == nullptr || is_floating(meta->dtype)) return {INT32_MIN, INT32_MAX};
        const interval whole = is_boolean(meta->dtype) ? interval{0, 1} : interval::of_type(meta->dtype);
        if (depth == 0) return whole;
        const interval known = computed(v, whole, depth - 1);
        return known.lies_in(whole) ? known : whole;  // it may have wrapped around
    }

private:
    [[nodiscard]] interval computed(value v, const interval& whole, int depth) const {
        if (is<builtin::constant>(*v.producer)) return elements(v, whole);
        if (!is_of_dialect<tosa::dialect>(*v.producer)) return whole;
        const bool moves = is<tosa::reduce_max>(*v.producer) || is<tosa::reduce_min>(*v.producer) ||
            v.producer->op->has(trait::rearranging);
        if (const auto* a = match<tosa::rescale>(v)) return scaled(*a, whole, depth);
        if (const auto* a = match<tosa::clamp>(v)) return {a->min_val.to_int(), a->max_val.to_int()};
        if (const auto* a = match<tosa::cast>(v)) return of(a->input, depth);
        if (const auto* a = match<tosa::abs>(v)) return {0, of(a->input1, depth).reach()};
        if (is<tosa::argmax>(*v.producer)) return {0, INT32_MAX};
        if (moves) return of(v.producer->operand(0), depth);
        return computed_by_two(v, depth).value_or(whole);
    }
    [[nodiscard]] std::optional<interval> computed_by_two(value v, int depth) const {
        const node& n = *v.producer;
        const auto x = [&] { return of(n.operand(0), depth); };
        const auto y = [&] { return of(n.operand(1), depth); };
        if (is<tosa::maximum>(n)) return max(x(), y());
        if (is<tosa::minimum>(n)) return min(x(), y());
        if (is<tosa::add>(n)) return x() + y();
        if (is<tosa::sub>(n)) return x() - y();
        if (is<tosa::mul>(n)) return x() * y();
        return std::nullopt;
    }
    static interval elements(value v, const interval& whole) {
        const auto numbers = constant_integers(v);
        if (!numbers || numbers->empty()) return whole;
        const auto [least, most] = std::minmax_element(numbers->begin(), numbers->end());
        return {*least, *most};
    }
    [[nodiscard]] interval scaled(const args<tosa::rescale>& a, const interval& whole, int depth) const {
        const auto multipliers = constant_integers(a.multiplier);
        const auto shifts = constant_integers(a.shift);
        const auto input_zero = constant_integer(a.input_zp);
        const auto output_zero = constant_integer(a.output_zp);
        if (!multipliers || !shifts || !input_zero || !output_zero) return whole;
        const interval x = of(a.input, depth);
        double least = 0;
        double most = 0;
        for (std::size_t i = 0; i != multipliers->size(); ++i) {
            const double factor =
                std::ldexp(static_cast<double>((*multipliers)[i]), -static_cast<int>((*shifts)[i]));
            for (const std::int64_t end : {x.least, x.most}) {
                const double y = static_cast<double>(end - *input_zero) * factor;
                least = std::min(least, y);
                most = std::max(most, y);
            }
        }
        const auto quantized = [&](double y) {
            return static_cast<std::int64_t>(std::clamp(y + static_cast<double>(*output_zero),
                static_cast<double>(whole.least), static_cast<double>(whole.most)));
        };
        return {quantized(std::floor(least) - 1), quantized(std::ceil(most) + 1)};
    }
};

[[nodiscard]] inline interval interval_of(value v) {
    constexpr int max_depth = 6;
    return interval_reader().of(v, max_depth);
}

}  // namespace headrace::u55

#endif
