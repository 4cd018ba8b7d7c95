// SPDX-License-Identifier: MIT
// Defines the kernels of TOSA's CAST and RESCALE.
#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include <headrace/dialect/tosa.hpp>
#include <headrace/eval/element.hpp>
#include <headrace/eval/kernels.hpp>
#include <headrace/eval/map.hpp>
#include <headrace/eval/tosa/fixed_point.hpp>

namespace headrace::eval {

namespace {

/// Rounds floats to integers half to even, with saturation; all other conversions are PyTorch's.
void evaluate(tosa::cast, const args<tosa::cast>& a, evaluation& e) {
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

[[nodiscard]] inline std::int64_t extended(std::int64_t x, dtype t, bool as_unsigned) {
    return as_unsigned ? x & range_of_type(t, true).highest : x;
}
void evaluate(tosa::rescale, const args<tosa::rescale>& a, evaluation& e) {
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

constexpr auto kernel = [](auto op, const auto& a, evaluation& e) -> decltype(evaluate(op, a, e)) {
    evaluate(op, a, e);
};

}  // namespace

const kernel_list tosa_convert_kernels = kernels_of<tosa::dialect>(kernel);

}  // namespace headrace::eval
