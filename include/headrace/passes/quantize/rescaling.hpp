// SPDX-License-Identifier: MIT
// Defines headrace::multiplier_and_shift and headrace::build::rescale, RESCALE from factors.
#ifndef HEADRACE_PASSES_QUANTIZE_RESCALING_HPP
#define HEADRACE_PASSES_QUANTIZE_RESCALING_HPP

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory_resource>
#include <optional>
#include <span>
#include <vector>

#include <headrace/base/text.hpp>
#include <headrace/passes/support/build.hpp>

namespace headrace {

/// A positive factor as RESCALE has it: multiplier * 2^-shift (TOSA 1.0, 2.12.2).
struct fixed_point_factor {
    std::int64_t multiplier = 0;
    std::int64_t shift = 0;
    friend bool operator==(const fixed_point_factor&, const fixed_point_factor&) = default;
};

/// With 31 bits of multiplier (scale32), or 15. Nothing where RESCALE's shifts, 2 to 62, do not reach: a
/// factor of 2^29 and more, or one that is not positive.
[[nodiscard]] inline std::optional<fixed_point_factor> multiplier_and_shift(double factor, bool scale32) {
    constexpr int least_shift = 2;
    constexpr int most_shift = 62;
    if (!(factor > 0) || std::isinf(factor)) return std::nullopt;
    const int width = scale32 ? 31 : 15;
    int exponent = 0;
    const double mantissa = std::frexp(factor, &exponent);  // in [0.5, 1)
    auto multiplier = static_cast<std::int64_t>(std::nearbyint(std::ldexp(mantissa, width)));
    if (multiplier == std::int64_t{1} << width) {
        multiplier /= 2;
        ++exponent;
    }
    int shift = width - exponent;
    if (shift > most_shift) {
        multiplier >>= std::min(width, shift - most_shift);
        shift = most_shift;
    }
    if (shift < least_shift) return std::nullopt;
    return fixed_point_factor{multiplier, shift};
}

namespace build {

/// What a RESCALE does besides scaling.
struct rescaling {
    std::int64_t input_zero = 0;
    std::int64_t output_zero = 0;
    dtype to = dtype::int32;
    /// The largest distance of an operand's element from its zero point. Elements that RESCALE could not
    /// take, of 2^(shift - 1) and more, are cut off before.
    double reach = 0;
};

using rescale_ops = joined<ops<tosa::rescale, tosa::maximum, tosa::minimum>>;

/// `v` times one factor, or one for each index of its last axis, rounded to nearest.
template <class E>
value rescale(E& e, value v, std::span<const double> factors, const rescaling& r) {
    const dtype from = e.dtype(v);
    if (!v) return v;
    const bool scale32 = from != dtype::int48;
    std::pmr::vector<std::int32_t> multipliers;
    std::pmr::vector<std::int8_t> shifts;
    for (const double factor : factors) {
        const auto fixed = multiplier_and_shift(factor, scale32);
        if (!fixed) {
            return e.unsupported("a quantization step is " + number_text(factor) +
                                 " times another, beyond what RESCALE can scale by");
        }
        multipliers.push_back(static_cast<std::int32_t>(fixed->multiplier));
        shifts.push_back(static_cast<std::int8_t>(fixed->shift));
    }
    if (scale32 && from == dtype::int32) {
        const double most = std::ldexp(1.0, *std::min_element(shifts.begin(), shifts.end()) - 1);
        if (r.reach >= most) {
            const auto bound = static_cast<std::int64_t>(std::min(most - 1, 2147483647.0));
            v = e.template make<tosa::minimum>(v, e.splat(bound, dtype::int32, e.rank(v)));
            v = e.template make<tosa::maximum>(v, e.splat(-bound, dtype::int32, e.rank(v)));
        }
    }
    const auto count = static_cast<std::int64_t>(factors.size());
    const std::pmr::vector<std::int16_t> narrow(multipliers.begin(), multipliers.end());
    const value multiplier =
        scale32 ? e.template constant<std::int32_t>(dtype::int32, std::array{count}, multipliers)
                : e.template constant<std::int16_t>(dtype::int16, std::array{count}, narrow);
    return e.template make<tosa::rescale>(
        {.input = v,
         .multiplier = multiplier,
         .shift = e.template constant<std::int8_t>(dtype::int8, std::array{count}, shifts),
         .input_zp = zero_point(e, from, r.input_zero),
         .output_zp = zero_point(e, r.to, r.output_zero),
         .scale32 = scale32,
         .per_channel = factors.size() > 1});
}
template <class E>
value rescale(E& e, value v, double factor, const rescaling& r) {
    return rescale(e, v, std::span(&factor, 1), r);
}

}  // namespace build
}  // namespace headrace

#endif
