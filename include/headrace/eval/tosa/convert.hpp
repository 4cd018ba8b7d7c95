// SPDX-License-Identifier: MIT
// Defines the kernels of TOSA's CAST and RESCALE, and the fixed-point arithmetic of TOSA.
#ifndef HEADRACE_EVAL_TOSA_CONVERT_HPP
#define HEADRACE_EVAL_TOSA_CONVERT_HPP

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include <headrace/dialect/tosa.hpp>
#include <headrace/eval/element.hpp>
#include <headrace/eval/map.hpp>

namespace headrace::eval {

/// The numbers that an integer dtype holds, signed or reinterpreted as unsigned.
struct integer_range {
    std::int64_t lowest, highest;
};
[[nodiscard]] inline integer_range range_of_type(dtype t, bool as_unsigned) {
    const int bits = traits_of(t).bits;
    if (bits >= 64) return {INT64_MIN, INT64_MAX};
    if (as_unsigned) return {0, (std::int64_t{1} << bits) - 1};
    return {-(std::int64_t{1} << (bits - 1)), (std::int64_t{1} << (bits - 1)) - 1};
}

/// Rounds floats to integers half to even, with saturation; all other conversions are PyTorch's.
inline void evaluate(tosa::cast, const args<tosa::cast>& a, evaluation& e) {
    const tensor& in = e.input(a.input);
    if (!is_floating(in.type()) || !is_integral(e.output_type())) return e.set_output(in);
    const integer_range range = range_of_type(e.output_type(), false);
    const std::vector<double> numbers = in.to<double>();
    std::vector<std::int64_t> out(numbers.size());
    std::ranges::transform(numbers, out.begin(), [&](double x) {
        return std::clamp(element_cast<std::int64_t>(std::nearbyint(x)), range.lowest, range.highest);
    });
    e.output().assign(out);
}

/// apply_scale_32 and apply_scale_16 of the specification.
struct fixed_point_scale {
    std::int64_t multiplier, shift;
};
[[nodiscard]] inline std::int64_t apply_scale(std::int64_t x, const fixed_point_scale& s, bool double_round) {
    const std::int64_t shift = std::clamp<std::int64_t>(s.shift, 1, 62);
    std::int64_t round = std::int64_t{1} << (shift - 1);
    if (double_round && shift > 31) round += x >= 0 ? std::int64_t{1} << 30 : -(std::int64_t{1} << 30);
    return plus()(times()(x, s.multiplier), round) >> shift;
}
/// reciprocal_scale of the specification, for dividing by a count.
[[nodiscard]] inline fixed_point_scale reciprocal_scale(std::int64_t count) {
    const int k = 32 - std::countl_zero(static_cast<std::uint32_t>(count - 1));
    return {(((std::int64_t{1} << 30) + 1) << k) / count, 30 + k};
}

[[nodiscard]] inline std::int64_t extended(std::int64_t x, dtype t, bool as_unsigned) {
    return as_unsigned ? x & range_of_type(t, true).highest : x;
}
inline void evaluate(tosa::rescale, const args<tosa::rescale>& a, evaluation& e) {
    const tensor& in = e.input(a.input);
    const std::vector<std::int64_t> multipliers = e.input(a.multiplier).to<std::int64_t>();
    const std::vector<std::int64_t> shifts = e.input(a.shift).to<std::int64_t>();
    const std::int64_t in_zp = extended(e.input(a.input_zp).integer(0), in.type(), a.input_unsigned);
    const std::int64_t out_zp = extended(e.input(a.output_zp).integer(0), e.output_type(), a.output_unsigned);
    const std::size_t channels = a.per_channel && in.rank() != 0 ? idx(in.shape().back()) : 1;
    if (multipliers.size() < channels || shifts.size() < channels)
        return e.fail("fewer scales than channels");
    const integer_range range = range_of_type(e.output_type(), a.output_unsigned);
    const bool double_round = a.rounding_mode == rounding_mode::double_round && a.scale32;
    std::vector<std::int64_t> numbers = in.to<std::int64_t>();
    for (std::size_t i = 0; i != numbers.size(); ++i) {
        const std::size_t c = i % channels;
        const std::int64_t x = extended(numbers[i], in.type(), a.input_unsigned) - in_zp;
        const std::int64_t scaled_number = apply_scale(x, {multipliers[c], shifts[c]}, double_round);
        numbers[i] = std::clamp(scaled_number + out_zp, range.lowest, range.highest);
    }
    e.output().assign(numbers);
}

}  // namespace headrace::eval

#endif
