// SPDX-License-Identifier: MIT
// Defines the kernels of the cortex_m dialect's matrix products and softmax.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include <headrace/dialect/cortex_m.hpp>
#include <headrace/eval/cortex_m/requantize.hpp>
#include <headrace/eval/iterate.hpp>
#include <headrace/eval/kernels.hpp>

namespace headrace::eval {

namespace {

[[nodiscard]] std::span<const std::int8_t> row_of(const tensor& t, std::int64_t row, std::int64_t size) {
    return t.data<std::int8_t>().subspan(idx(row * size), idx(size));
}

/// The sums are exact modulo 2^32; Python's reference adds them up in float, which rounds those past 2^24.
/// The zero points of both factors are given negated. The scratch memory is not used.
void evaluate(
    cortex_m::quantized_batch_matmul, const args<cortex_m::quantized_batch_matmul>& a, evaluation& e) {
    const tensor& lhs = e.input(a.lhs);
    const tensor& rhs = e.input(a.rhs_transposed);
    const fixed_point_factor factor = factor_of(a.output_multiplier, a.output_shift);
    const quantized_result result{a.output_zero_point};
    const std::int64_t rows = lhs.dim(1);
    const std::int64_t columns = rhs.dim(1);
    std::int8_t* to = e.output().mutable_data<std::int8_t>().data();
    for (std::int64_t row = 0; row != lhs.dim(0) * rows; ++row) {
        const auto left = row_of(lhs, row, lhs.dim(2));
        for (std::int64_t column = 0; column != columns; ++column) {
            const auto right = row_of(rhs, row / rows * columns + column, lhs.dim(2));
            *to++ = result.of(factor.times(
                dot_product(left, in_word(a.lhs_zero_point), right.data(), in_word(a.rhs_zero_point), 0)));
        }
    }
}

/// Sums of the weights, which have the bias in them, take the place of the input's offset and of the bias, as
/// in Python's reference. On the device it depends on the core: those with MVE read the sums and refuse to
/// run without them, others read the bias alone. A program has one of the two. All results have the first
/// multiplier and shift.
void evaluate(cortex_m::quantized_linear, const args<cortex_m::quantized_linear>& a, evaluation& e) {
    const tensor& in = e.input(a.input);
    const tensor& weights = e.input(a.weights);
    const fixed_point_factor factor =
        factor_of(a.requantize_multipliers.front(), a.requantize_shifts.front());
    const quantized_result result{a.output_offset, a.activation_min, a.activation_max};
    const std::int64_t features = weights.dim(0);
    const std::int64_t depth = weights.dim(1);
    const std::vector<std::int32_t> first = first_sums(e, a.kernel_sum ? a.kernel_sum : a.bias, features);
    const std::int32_t offset = a.kernel_sum ? 0 : in_word(a.input_offset);
    const std::int64_t rows = features == 0 ? 0 : e.output().size() / features;
    std::int8_t* to = e.output().mutable_data<std::int8_t>().data();
    for (std::int64_t row = 0; row != rows; ++row) {
        const auto left = row_of(in, row, depth);
        for (std::int64_t feature = 0; feature != features; ++feature) {
            *to++ = result.of(factor.times(dot_product(left, offset, row_of(weights, feature, depth).data(),
                in_word(a.filter_offset), first[idx(feature)])));
        }
    }
}

// --- softmax ---------------------------------------------------------------------------

constexpr std::int32_t q31_highest = std::numeric_limits<std::int32_t>::max();
constexpr std::int32_t q31_lowest = std::numeric_limits<std::int32_t>::min();

/// arm_nn_doubling_high_mult: the product of numbers in Q31, halves rounded up.
[[nodiscard]] constexpr std::int32_t q31_product(std::int32_t a, std::int32_t b) {
    if (a == q31_lowest && b == q31_lowest) return q31_highest;
    return in_word((std::int64_t{a} * b + (std::int64_t{1} << 30)) >> 31);
}
[[nodiscard]] constexpr std::int32_t q31_sum(std::int64_t a, std::int64_t b) { return in_word(a + b); }

/// arm_nn_mult_by_power_of_two, which saturates.
[[nodiscard]] constexpr std::int32_t saturated_shift(std::int32_t x, std::int32_t exponent) {
    const std::int32_t threshold = (std::int32_t{1} << (31 - exponent)) - 1;
    return x > threshold ? q31_highest : x < -threshold ? q31_lowest : x << exponent;
}

/// arm_nn_exp_on_negative_values: e to a number in Q5.26 that is not above 0, in Q31. A polynomial gives the
/// power of the number modulo 1/4, and each bit of the rest a factor.
[[nodiscard]] constexpr std::int32_t exp_of_negative(std::int32_t number) {
    constexpr std::int32_t quarter = 1 << 24;
    constexpr std::int32_t power_of_eighth = 1895147668;  // e^(-1/8)
    constexpr std::array<std::int32_t, 7> powers{
        1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242};  // e^(-1/4), e^(-1/2), …
    if (number == 0) return q31_highest;
    const std::int32_t below = (number & (quarter - 1)) - quarter;
    const std::int32_t rest = q31_sum(below, -std::int64_t{number});
    const std::int32_t x = q31_sum(std::int64_t{below} << 5, 1 << 28);
    const std::int32_t x2 = q31_product(x, x);
    const std::int32_t high = q31_sum(divide_by_power_of_two(q31_product(x2, x2), 2), q31_product(x2, x));
    const std::int32_t tail = divide_by_power_of_two(q31_sum(q31_product(high, 715827883), x2), 1);
    std::int32_t power = q31_sum(power_of_eighth, q31_product(power_of_eighth, q31_sum(x, tail)));
    for (std::size_t bit = 0; bit != powers.size(); ++bit) {
        if ((rest & (quarter << bit)) != 0) power = q31_product(power, powers[bit]);
    }
    return power;
}

/// arm_nn_one_over_one_plus_x_for_x_in_0_1: three steps of Newton's method.
[[nodiscard]] constexpr std::int32_t inverse_of_one_plus(std::int32_t number) {
    const std::int64_t sum = std::int64_t{number} + q31_highest;
    const std::int32_t half = in_word((sum + (sum >= 0 ? 1 : -1)) / 2);
    std::int32_t x = q31_sum(1515870810, q31_product(half, -1010580540));
    for (int step = 0; step != 3; ++step) {
        const std::int32_t error = q31_sum(1 << 29, -std::int64_t{q31_product(half, x)});
        x = q31_sum(x, saturated_shift(q31_product(x, error), 2));
    }
    return saturated_shift(x, 1);
}

/// The device computes in integers, and results less than diff_min below the maximum are the lowest; Python's
/// reference computes in float. They differ by one step at times.
void evaluate(cortex_m::softmax, const args<cortex_m::softmax>& a, evaluation& e) {
    constexpr std::int32_t sum_bits = 12;
    const tensor& in = e.input(a.input);
    const std::int64_t size = in.dim(in.rank() - 1);
    const std::int32_t diff_min = in_word(a.diff_min);
    const std::int32_t multiplier = in_word(a.input_multiplier);
    const std::int32_t unit = in_word(std::int64_t{1} << a.input_shift);
    const auto power_of = [&](std::int32_t difference) {
        return exp_of_negative(q31_product(in_word(std::int64_t{difference} * unit), multiplier));
    };
    std::int8_t* to = e.output().mutable_data<std::int8_t>().data();
    for (std::int64_t row = 0; row != in.size() / size; ++row) {
        const auto codes = row_of(in, row, size);
        const std::int32_t highest = std::ranges::max(codes);
        std::int32_t sum = 0;
        for (const std::int8_t code : codes) {
            if (code - highest < diff_min) continue;
            sum = q31_sum(sum, divide_by_power_of_two(power_of(code - highest), sum_bits));
        }
        const std::int32_t headroom = std::countl_zero(static_cast<std::uint32_t>(sum));
        const std::int64_t normal = sum > 0 ? in_word(std::int64_t{sum} << headroom) : 0;
        const std::int32_t scale = inverse_of_one_plus(in_word(normal - q31_lowest));
        for (const std::int8_t code : codes) {
            std::int32_t number = 0;
            if (code - highest >= diff_min)
                number = divide_by_power_of_two(
                    q31_product(scale, power_of(code - highest)), sum_bits - headroom + 23);
            *to++ = quantized_result{-128}.of(number);
        }
    }
}

constexpr auto kernel = [](auto op, const auto& a, evaluation& e) -> decltype(evaluate(op, a, e)) {
    evaluate(op, a, e);
};

}  // namespace

const kernel_list cortex_m_product_kernels = kernels_of<cortex_m::dialect>(kernel);

}  // namespace headrace::eval
