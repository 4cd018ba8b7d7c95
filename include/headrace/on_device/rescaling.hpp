// SPDX-License-Identifier: MIT
// Defines headrace::on_device::rescaling, the attributes of a RESCALE, and chooses how to compute it.
#ifndef HEADRACE_ON_DEVICE_RESCALING_HPP
#define HEADRACE_ON_DEVICE_RESCALING_HPP

#include <algorithm>
#include <bit>
#include <cstdint>

#include <headrace/on_device/number.hpp>
#include <headrace/on_device/tensor.hpp>

namespace headrace::on_device {

/// How RESCALE rounds; inexact rounding may do as it likes, and rounds once here.
enum class rounding : std::uint8_t { single_round, double_round, inexact_round };

/// TOSA 1.0, 2.12.2 (RESCALE): (x - input_zero) * multiplier / 2^shift + output_zero, as near as the output
/// type comes. An unsigned operand is one whose bits are read so, whatever its element type says.
struct rescaling {
    element input = element::int8, output = element::int8;
    std::int32_t multiplier = 1 << 30;
    int shift = 30;
    std::int32_t input_zero = 0, output_zero = 0;
    rounding rounds = rounding::single_round;
    bool scale32 = true, input_unsigned = false, output_unsigned = false;

    constexpr bool rounds_twice() const { return scale32 && shift > 31 && rounds == rounding::double_round; }
};

namespace detail {

/// The range of an element whose bits are read as unsigned, and the number in it once a sign is lost.
constexpr std::int64_t highest_as_unsigned(element e) {
    return lowest_of(e) < 0 ? highest_of(e) - lowest_of(e) : highest_of(e);
}
constexpr std::int64_t zero_of(std::int32_t zero, element e, bool is_unsigned) {
    return is_unsigned && zero < 0 ? zero + highest_as_unsigned(e) + 1 : zero;
}

/// RESCALE in 64 bits, where zero points have no part in it.
HEADRACE_INLINE constexpr std::int64_t scaled_widely(
    std::int64_t x, std::int64_t multiplier, int shift, bool twice) {
    using m = machine<std::int64_t>;
    std::int64_t half = std::int64_t{1} << (shift - 1);
    if (twice) half += x >= 0 ? std::int64_t{1} << 30 : -(std::int64_t{1} << 30);
    return m::plus(m::times(x, multiplier), half) >> shift;
}

/// A way to compute a RESCALE.
enum class scale_form : std::uint8_t {
    constant,      ///< all numbers become the same
    left_shift,    ///< the multiplier is a power of two
    right_shift,   ///< the multiplier is a power of two
    narrow,        ///< the product fits 32 bits
    rounded_high,  ///< factors shifted left so that the high word of their product, rounded, is the result
    high,          ///< a shift of 33 or more: the high word decides
    wide,          ///< the product has 64 bits
};

/// The arithmetic of a RESCALE of numbers of [lowest, highest]. `low` and `high` are the bounds of the
/// result. The form computes `(x << left) * multiplier` or so, with `addend`, and then shifts right by
/// `right`.
struct scale_plan {
    scale_form form = scale_form::wide;
    std::int64_t low = 0, high = 0;
    std::int64_t addend = 0, output_zero = 0;
    std::int32_t multiplier = 0;
    int left = 0, right = 0;
};

/// True if a number plus 2^(shift - 1) and the zero point, shifted, fit 32 bits.
constexpr bool fits_with(std::int64_t lo, std::int64_t hi, std::int64_t addend) {
    return fits_int32(addend, addend) && fits_int32(lo + addend, hi + addend);
}

constexpr scale_plan plan_scale(rescaling s, std::int64_t lowest, std::int64_t highest) {
    const std::int64_t zero = zero_of(s.input_zero, s.input, s.input_unsigned), m = s.multiplier;
    const int shift = std::clamp(s.shift, 1, 62);
    const std::int64_t lo = lowest - zero, hi = highest - zero;
    scale_plan p{
        .output_zero = zero_of(s.output_zero, s.output, s.output_unsigned), .multiplier = s.multiplier};
    const std::int64_t ends[2]{
        scaled_widely(lo, m, shift, s.rounds_twice()), scaled_widely(hi, m, shift, s.rounds_twice())};
    p.low = std::min(ends[0], ends[1]) + p.output_zero;
    p.high = std::max(ends[0], ends[1]) + p.output_zero;
    if (p.low == p.high) {
        p.form = scale_form::constant;
        return p;
    }
    if (s.rounds_twice() || !fits_int32(lo, hi) || !fits_int32(p.low, p.high)) return p;

    // The zero points and the rounding bit go into one addend where that fits.
    const auto finish_right = [&](int by, std::int64_t product_lo, std::int64_t product_hi,
                                  std::int64_t offset) {
        p.right = by;
        p.addend = (by == 0 ? 0 : std::int64_t{1} << (by - 1)) - offset;
        const std::int64_t with_zero = p.addend + (p.output_zero << by);
        if (fits_with(product_lo, product_hi, with_zero)) {
            p.addend = with_zero;
            p.output_zero = 0;
        }
        return fits_with(product_lo, product_hi, p.addend);
    };
    if (m > 0 && (m & (m - 1)) == 0) {
        const int power = std::countr_zero(static_cast<std::uint32_t>(m));
        if (power >= shift) {
            p.left = power - shift;
            p.form = scale_form::left_shift;
            p.addend = p.output_zero - (zero << p.left);
            p.output_zero = 0;
            return p;
        }
        scale_plan before = p;
        if (shift - power <= 30 && finish_right(shift - power, lowest, highest, zero)) {
            p.form = scale_form::right_shift;
            return p;
        }
        p = before;
    }
    const std::int64_t products[2]{std::min(lowest * m, highest * m), std::max(lowest * m, highest * m)};
    scale_plan before = p;
    if (shift <= 30 && finish_right(shift, products[0], products[1], zero * m)) {
        p.form = scale_form::narrow;
        return p;
    }
    p = before;
    if (shift >= 33) {
        // The rounding bit is in the high word, so the low word has no part in the result.
        if (finish_right(shift - 32, std::min(lo * m, hi * m) >> 32, std::max(lo * m, hi * m) >> 32, 0)) {
            p.form = scale_form::high;
            return p;
        }
        p = before;
    } else if (m > 0) {
        const int up = 32 - shift;
        const int of_multiplier = std::min(up, std::countl_zero(static_cast<std::uint32_t>(m)) - 1);
        p.left = up - of_multiplier;
        if (fits_int32(lo << p.left, hi << p.left)) {
            p.form = scale_form::rounded_high;
            p.multiplier = s.multiplier << of_multiplier;
            p.addend = -(zero << p.left);
            return p;
        }
        p = before;
    }
    return p;
}

}  // namespace detail

}  // namespace headrace::on_device

#endif
