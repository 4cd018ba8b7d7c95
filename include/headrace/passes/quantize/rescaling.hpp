// SPDX-License-Identifier: MIT
// Defines headrace::build::rescale, which makes RESCALE from factors, headrace::widening_shift, which reads
// RESCALEs that are lossless, and headrace::fuse_rescales.
#ifndef HEADRACE_PASSES_QUANTIZE_RESCALING_HPP
#define HEADRACE_PASSES_QUANTIZE_RESCALING_HPP

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include <headrace/base/text.hpp>
#include <headrace/match/node_pattern.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/build.hpp>
#include <headrace/passes/support/constants.hpp>

namespace headrace {

/// A positive factor as RESCALE represents it: multiplier * 2^-shift (TOSA 1.0, 2.12.2).
struct fixed_point_factor {
    std::int64_t multiplier = 0;
    std::int64_t shift = 0;
    friend bool operator==(const fixed_point_factor&, const fixed_point_factor&) = default;
};

/// Converts a factor, with 31 bits of multiplier (scale32) or 15. Nothing for factors out of range of
/// RESCALE's shifts, 2 to 62: 2^29 and more (2^13 with 15 bits), and factors that are not positive.
[[nodiscard]] inline std::optional<fixed_point_factor> multiplier_and_shift(double factor, bool scale32) {
    constexpr int min_shift = 2;
    constexpr int max_shift = 62;
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
    if (shift > max_shift) {
        multiplier >>= std::min(width, shift - max_shift);
        shift = max_shift;
    }
    if (shift < min_shift) return std::nullopt;
    return fixed_point_factor{multiplier, shift};
}

namespace build {

/// The parameters of a RESCALE other than its factors.
struct rescaling {
    std::int64_t input_zero = 0;
    std::int64_t output_zero = 0;
    dtype to = dtype::int32;
};

/// Multiplies `v` by one factor, or by one for each index of its last axis, rounded to nearest. Only 8-bit
/// values have zero points here.
inline value rescale(
    emit<ops<tosa::rescale>> e, value v, std::span<const double> factors, const rescaling& r) {
    if (!v) return v;
    const dtype from = e.dtype(v);
    const bool scale32 = from != dtype::int48;
    pmr_vector<fixed_point_factor> fixed;
    for (const double factor : factors) {
        const auto f = multiplier_and_shift(factor, scale32);
        if (!f) {
            return e.unsupported({"a quantization step is ", number_text(factor),
                " times another, beyond what RESCALE can scale by"});
        }
        fixed.push_back(*f);
    }
    const std::array count{static_cast<std::int64_t>(factors.size())};
    return e.make<tosa::rescale>({.input = v,
        .multiplier = e.constant_of(
            scale32 ? dtype::int32 : dtype::int16, count, [&](std::size_t i) { return fixed[i].multiplier; }),
        .shift = e.constant_of(dtype::int8, count, [&](std::size_t i) { return fixed[i].shift; }),
        .input_zp = zero_point(e, from, r.input_zero),
        .output_zp = zero_point(e, r.to, r.output_zero),
        .scale32 = scale32,
        .per_channel = factors.size() > 1});
}
inline value rescale(emit<ops<tosa::rescale>> e, value v, double factor, const rescaling& r) {
    return rescale(e, v, std::span(&factor, 1), r);
}

using saturating_rescale_ops = ops<tosa::rescale, tosa::maximum, tosa::minimum, tosa::sub>;
using recoding_ops = joined<saturating_rescale_ops, ops<tosa::add>>;

/// Clamps INT32 to the bounds.
inline value cut_off(
    emit<ops<tosa::maximum, tosa::minimum>> e, value v, std::int64_t lowest, std::int64_t highest) {
    const auto number = [&](std::int64_t n) { return e.splat(n, dtype::int32, e.rank(v)); };
    if (highest < INT32_MAX) v = e.make<tosa::minimum>(v, number(highest));
    return lowest > INT32_MIN ? e.make<tosa::maximum>(v, number(lowest)) : v;
}

/// Subtracts the zero point of values wider than 8 bits, up to `reach` away from it, and returns INT32: TOSA
/// supports zero points for 8-bit values only (1.0, 2.12.2).
inline value without_zero_point(emit<saturating_rescale_ops> e, value v, double reach, std::int64_t zero) {
    if (!v || zero == 0 || e.dtype(v) == dtype::int8) return v;
    value wide = narrow(e, v, dtype::int32);
    if (reach > INT32_MAX)
        wide = cut_off(e, wide, INT32_MIN + std::max<std::int64_t>(zero, 0),
            INT32_MAX + std::min<std::int64_t>(zero, 0));
    return e.make<tosa::sub>(wide, e.splat(zero, dtype::int32, e.rank(wide)));
}
/// Adds a zero point to INT32 of magnitude up to `reach`, and narrows it to a dtype wider than 8 bits.
inline value with_zero_point(emit<recoding_ops> e, value v, double reach, std::int64_t zero, dtype to) {
    constexpr double room = 1 << 29;  // limit of a RESCALE by one
    const std::int64_t highest = to == dtype::int16 ? INT16_MAX : INT32_MAX;
    if (!(reach + std::abs(static_cast<double>(zero)) < room))
        v = cut_off(e, v, -highest - 1 - zero, highest - zero);
    return narrow(e, e.make<tosa::add>(v, e.splat(zero, dtype::int32, e.rank(v))), to);
}

/// Like `rescale`, for elements up to `reach` away from their zero point, which any dtype may have. RESCALE
/// does not take INT32 of 2^(shift - 1) and more: such elements are clamped before.
inline value saturating_rescale(
    emit<saturating_rescale_ops> e, value v, std::span<const double> factors, double reach, rescaling r) {
    if (v && e.dtype(v) != dtype::int8) v = without_zero_point(e, v, reach, std::exchange(r.input_zero, 0));
    const auto largest = multiplier_and_shift(*std::ranges::max_element(factors), true);
    if (!v || e.dtype(v) != dtype::int32 || !largest) return rescale(e, v, factors, r);
    const double limit = std::ldexp(1.0, static_cast<int>(largest->shift) - 1);
    if (reach >= limit) {
        const auto bound = static_cast<std::int64_t>(std::min(limit - 1, 2147483647.0));
        v = cut_off(e, v, -bound, bound);
    }
    return rescale(e, v, factors, r);
}
inline value saturating_rescale(
    emit<saturating_rescale_ops> e, value v, double factor, double reach, const rescaling& r) {
    return saturating_rescale(e, v, std::span(&factor, 1), reach, r);
}

/// Like `saturating_rescale`, to a dtype that may have a zero point as well.
inline value recode(
    emit<recoding_ops> e, value v, std::span<const double> factors, double reach, rescaling r) {
    if (r.output_zero == 0 || r.to == dtype::int8) return saturating_rescale(e, v, factors, reach, r);
    const double factor = *std::ranges::max_element(factors);
    const std::int64_t zero = std::exchange(r.output_zero, 0);
    const dtype to = std::exchange(r.to, dtype::int32);
    return with_zero_point(e, saturating_rescale(e, v, factors, reach, r), reach * factor, zero, to);
}

}  // namespace build

/// Returns the k of a RESCALE that multiplies the whole tensor by 2^k.
[[nodiscard]] inline std::optional<std::int64_t> log2_of_factor(const args<tosa::rescale>& a) {
    const auto multiplier = constant_integers(a.multiplier);
    const auto shift = constant_integers(a.shift);
    if (a.per_channel || !multiplier || !shift || multiplier->front() <= 0) return std::nullopt;
    const auto bits = static_cast<std::uint64_t>(multiplier->front());
    if (!std::has_single_bit(bits)) return std::nullopt;
    return std::countr_zero(bits) - shift->front();
}

/// Returns the k of a RESCALE from 8 or 16 bits to 32 that multiplies by 2^k without loss, and whose output
/// zero point is 0.
[[nodiscard]] inline std::optional<std::int64_t> widening_shift(const args<tosa::rescale>& a) {
    const auto is = [](value v, dtype type) { return meta_of(v) != nullptr && meta_of(v)->dtype == type; };
    const bool widens = (is(a.input, dtype::int8) || is(a.input, dtype::int16)) &&
        is(a.output_zp, dtype::int32) && !a.input_unsigned && !a.output_unsigned &&
        constant_integer(a.output_zp) == 0;
    const auto power = widens ? log2_of_factor(a) : std::nullopt;
    return power.value_or(-1) >= 0 ? power : std::nullopt;
}

/// Fuses two RESCALEs if the first only widens integers and multiplies by a power of two, and removes a
/// RESCALE by one that changes neither dtype nor zero point. Other pairs round twice, or saturate in between:
/// fusing them would change results.
struct fuse_rescales : pass {
    using runs_after = pass_list<quantized_ops_lowered>;
    static constexpr std::string_view summary = "rescale(rescale(x)) = rescale(x) where that is exact";
    static constexpr bool in_execution_order = true;

    static auto rewrites() {
        return rules(on<tosa::rescale> = code<unchanged_input>(),
            on_match(twice<tosa::rescale>) = code<made>([](emit<made> e, value, const auto& m) {
                return fused(e, get<"inner">(m), get<"outer">(m));
            }));
    }

private:
    using made = ops<tosa::rescale>;
    static std::optional<value> unchanged_input(emit<ops<>> e, const args<tosa::rescale>& a) {
        const auto zero = constant_integer(a.input_zp);
        const bool changes_nothing = e.dtype(a.input) == e.result_meta().dtype && log2_of_factor(a) == 0 &&
            zero && zero == constant_integer(a.output_zp) && a.input_unsigned == a.output_unsigned;
        return changes_nothing ? std::optional(a.input) : std::nullopt;
    }
    static std::optional<value> fused(
        emit<made> e, const args<tosa::rescale>& inner, const args<tosa::rescale>& outer) {
        const auto power = widening_shift(inner);
        const auto shifts = constant_integers(outer.shift);
        if (constant_integer(outer.input_zp) != 0 || !power || !shifts || !outer.scale32) return std::nullopt;
        const auto fits = [&](std::int64_t shift) { return shift - *power >= 2 && shift - *power <= 62; };
        if (!std::ranges::all_of(*shifts, fits)) return std::nullopt;
        args<tosa::rescale> both = outer;
        both.input = inner.input;
        both.input_zp = inner.input_zp;
        both.shift = e.constant_of(
            dtype::int8, e.shape(outer.shift), [&](std::size_t i) { return (*shifts)[i] - *power; });
        return e.make<tosa::rescale>(both);
    }
};
HEADRACE_COMPILED_PASS(fuse_rescales);

}  // namespace headrace

#endif
