// SPDX-License-Identifier: MIT
// Defines headrace::coding, with which tests build quantized programs, and headrace::integers_from, which
// executes a program in floats and in the integers that passes make of it, and compares the quantized values.
#ifndef HEADRACE_TESTS_SUPPORT_QUANTIZED_TEST_HPP
#define HEADRACE_TESTS_SUPPORT_QUANTIZED_TEST_HPP

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <headrace/infer/quantized_decomposed.hpp>
#include <headrace/passes/quantize/quantization.hpp>

#include "pass_test.hpp"

namespace headrace {

inline constexpr target_spec integer_target = *parse_target("TOSA-1.0+INT+int16+cf");
inline constexpr target_spec mixed_target = *parse_target("TOSA-1.0+FP+INT+int16+cf");

/// A quantization: real = (integer - zero_point) * scale.
struct coding {
    double scale = 1;
    std::int64_t zero_point = 0;
    dtype type = dtype::int8;
    std::int64_t lowest = range_of(type).first;
    std::int64_t highest = range_of(type).second;
};
[[nodiscard]] constexpr coding int8_codes(double scale, std::int64_t zero_point = 0) {
    return {scale, zero_point, dtype::int8, -128, 127};
}
[[nodiscard]] constexpr coding int16_codes(double scale) { return {scale, 0, dtype::int16, -32768, 32767}; }
/// 16 bits with a zero point, which RESCALE does not subtract.
inline constexpr coding off_center_int16{2e-4, 1234, dtype::int16, -32768, 32767};
/// 24 bits and a sign, like sums.
[[nodiscard]] constexpr coding int32_codes(double scale) {
    return {scale, 0, dtype::int32, -(1 << 24), 1 << 24};
}
/// The full range of int32.
[[nodiscard]] constexpr coding all_int32_codes(double scale) {
    return {scale, 0, dtype::int32, std::numeric_limits<std::int32_t>::min(),
        std::numeric_limits<std::int32_t>::max()};
}
/// Symmetric, as weights are stored.
[[nodiscard]] constexpr coding weight_codes(double scale, std::int64_t zero_point = 0) {
    return {scale, zero_point, dtype::int8, -127, 127};
}

[[nodiscard]] inline value quantized(program& p, value v, const coding& c) {
    return p.make<quantized_decomposed::quantize_per_tensor>(
        {v, c.scale, c.zero_point, c.lowest, c.highest, c.type});
}
[[nodiscard]] inline value real_of(program& p, value codes, const coding& c) {
    return p.make<quantized_decomposed::dequantize_per_tensor>(
        {codes, c.scale, c.zero_point, c.lowest, c.highest, c.type, std::nullopt});
}
/// Real numbers that are dequantized from an input.
[[nodiscard]] inline value real_input(program& p, const coding& c, const int_list& shape) {
    return real_of(p, p.input(c.type, shape), c);
}
inline void output_in(program& p, value v, const coding& c) { p.output(quantized(p, v, c)); }

/// Constant quantized values in a pattern that includes the ends of the range.
[[nodiscard]] inline value constant_codes(program& p, const coding& c, const int_list& shape) {
    return create_constant(p.g, {c.type, shape, {}}, nullptr, [&](std::span<std::byte> data) {
        const std::size_t width = traits_of(c.type).bits / 8U;
        const std::int64_t span =
            std::min<std::int64_t>(c.highest, 1 << 20) - std::max<std::int64_t>(c.lowest, -(1 << 20)) + 1;
        for (std::size_t i = 0; i * width < data.size(); ++i) {
            const auto turn = static_cast<std::int64_t>(i) * 7919 % span;
            const std::int64_t code = std::max<std::int64_t>(c.lowest, -(1 << 20)) + turn;
            detail::store_element(code, c.type, &data[i * width]);
        }
    });
}
[[nodiscard]] inline value real_constant(program& p, const coding& c, const int_list& shape) {
    return real_of(p, constant_codes(p, c, shape), c);
}
[[nodiscard]] inline value float_constant(
    program& p, const int_list& shape, const std::vector<double>& numbers) {
    return create_constant(p.g, {dtype::float32, shape, {}}, nullptr, [&](std::span<std::byte> data) {
        for (std::size_t i = 0; i != numbers.size(); ++i)
            detail::store_element(numbers[i], dtype::float32, &data[i * 4]);
    });
}
[[nodiscard]] inline value integer_constant(
    program& p, dtype type, const int_list& shape, const std::vector<std::int64_t>& numbers) {
    return create_constant(p.g, {type, shape, {}}, nullptr, [&](std::span<std::byte> data) {
        const std::size_t width = traits_of(type).bits / 8U;
        for (std::size_t i = 0; i != numbers.size(); ++i)
            detail::store_element(numbers[i], type, &data[i * width]);
    });
}
/// An input of real numbers with a pad and a clamp that readers see through; one more element at each end of
/// the last axis than `shape` has. Padding and bounds are real numbers of the coding.
[[nodiscard]] inline value padded_and_clamped_input(program& p, const coding& c, int_list shape) {
    shape_builder inner(shape);
    inner.back() -= 2;
    const auto real = [&](std::int64_t code) {
        return scalar(static_cast<double>(code - c.zero_point) * c.scale);
    };
    const value padded =
        p.make<aten::constant_pad_nd>({real_input(p, c, inner), {1, 1}, real(c.zero_point + 2)});
    return p.make<aten::clamp>({padded, real(c.zero_point - 50), real(c.zero_point + 60)});
}
/// An input of 30 bits, clamped between numbers that are not multiples of its scale.
[[nodiscard]] inline value long_clamped_input(program& p, const int_list& shape) {
    const coding c{1e-6, 0, dtype::int32, -(1 << 20), 1 << 20};
    return p.make<aten::clamp>({real_input(p, c, shape), scalar(-0.81234567), scalar(0.71234567)});
}
/// Dequantizes with a scale for each index of an axis, and with zero points if given.
[[nodiscard]] inline value real_per_channel(program& p, value codes, const std::vector<double>& scales,
    std::int64_t axis, const std::vector<std::int64_t>& zero_points = {}) {
    const auto channels = static_cast<std::int64_t>(scales.size());
    std::optional<value> zeros;
    if (!zero_points.empty()) zeros = integer_constant(p, dtype::int64, {channels}, zero_points);
    return p.make<quantized_decomposed::dequantize_per_channel>(
        {codes, float_constant(p, {channels}, scales), zeros, axis, -127, 127, dtype::int8, std::nullopt});
}
/// Returns `count` different scales around that number.
[[nodiscard]] inline std::vector<double> scales_around(double scale, std::size_t count) {
    std::vector<double> scales;
    for (std::size_t i = 0; i != count; ++i) scales.push_back(scale * (0.6 + 0.13 * static_cast<double>(i)));
    return scales;
}

/// Returns random quantized values: any of 8 or 16 bits, and any of 24 bits for int32.
[[nodiscard]] inline tensor random_codes(std::mt19937& random, const tensor_meta& meta) {
    if (!is_integral(meta.dtype) || meta.dtype == dtype::int64) return random_tensor(random, meta);
    constexpr std::int64_t most = 1 << 24;
    const std::int64_t highest = std::min(range_of(meta.dtype).second, most);
    const std::int64_t lowest = std::max(range_of(meta.dtype).first, -most);
    std::uniform_int_distribution<std::int64_t> any(lowest, highest);
    std::vector<std::int64_t> codes(static_cast<std::size_t>(meta.elements()));
    for (std::int64_t& c : codes) c = any(random);
    if (codes.size() > 1) std::tie(codes[0], codes[1]) = std::pair(lowest, highest);
    return tensor::of(meta.dtype, extents(meta.shape.begin(), meta.shape.end()), codes);
}
template <class Build>
[[nodiscard]] std::vector<tensor> random_inputs(const Build& build, unsigned seed = 7) {
    program p;
    build(p);
    std::mt19937 random(seed);
    std::vector<tensor> inputs;
    for (const node& n : p.g.inputs()) inputs.push_back(random_codes(random, *n.results[0].meta));
    return inputs;
}

/// The allowed difference from the float program in quantization steps: max per value, and share of values.
struct allowance {
    std::int64_t difference = 0;
    double share = 0;
};
inline constexpr allowance exactly{};
/// Factors have 31 bits and sums 19 fractional bits: only numbers near a tie are rounded differently.
inline constexpr allowance nearly{1, 0.02};
/// Numbers that are halfway between two quantized values go to the even one, or upward in TOSA.
inline constexpr allowance nearly_with_ties{1, 0.3};

/// Returns the op of the first used value with floating-point elements, here or in a region; empty if there
/// is none.
[[nodiscard]] inline std::pmr::string real_value_of(graph& g) {
    std::pmr::string found;
    for_each_graph(g, [&](graph& sub) {
        for (const node& n : sub.nodes()) {
            for (std::uint32_t i = 0; i != n.result_count; ++i) {
                const bool is_used = use_count({const_cast<node*>(&n), i}) != 0;
                if (is_used && n.results[i].meta && is_floating(n.results[i].meta->dtype) && found.empty())
                    found = n.op->name;
            }
        }
    });
    return found;
}

namespace detail {

[[nodiscard]] inline std::pmr::string code_difference(
    const std::vector<tensor>& expected, std::span<const tensor> actual, const allowance& allowed) {
    for (std::size_t r = 0; r != expected.size(); ++r) {
        const tensor& x = expected[r];
        const tensor& y = actual[r];
        const std::pmr::string here = "output " + number_text(r) + ": ";
        if (x.shape() != y.shape() || x.type() != y.type()) return here + "another type or shape";
        std::int64_t differing = 0;
        for (std::int64_t i = 0; i != x.size(); ++i) {
            const std::int64_t difference = std::abs(x.integer(i) - y.integer(i));
            differing += difference != 0;
            if (difference > allowed.difference)
                return here + "element " + number_text(i) + ": " + number_text(x.integer(i)) + " became " +
                    number_text(y.integer(i));
        }
        if (static_cast<double>(differing) > 1 + allowed.share * static_cast<double>(x.size()) ||
            (differing != 0 && allowed.share == 0)) {
            return here + number_text(differing) + " codes of " + number_text(x.size()) + " differ";
        }
    }
    return {};
}

}  // namespace detail

namespace testing {

/// Empty if the passes leave only integers in the quantized program, and their results agree with those in
/// floats, within the allowance.
[[nodiscard]] inline std::pmr::string compare_integers(
    const builder& build, pass_runners passes, std::span<const tensor> inputs, const allowance& allowed) {
    program before;
    build(before);
    if (!before.fault.empty()) return "inference: " + before.fault;
    const auto expected = run_graph(before.g, inputs);
    if (!expected) return "before: " + expected.error().message;
    return check_runs(build, passes, inputs, [&](graph& g, std::span<const tensor> results) {
        const std::pmr::string left = real_value_of(g);
        return left.empty() ? detail::code_difference(expected.value(), results, allowed) : left + " is left";
    });
}

class integer_matcher : public pass_matcher {
public:
    integer_matcher(pass_runners passes, const allowance& allowed)
        : pass_matcher("becomes integers by", passes), allowed_(allowed) {}
    /// Uses these inputs instead of random ones.
    [[nodiscard]] integer_matcher&& for_inputs(std::vector<tensor> inputs) && {
        inputs_ = std::move(inputs);
        return std::move(*this);
    }
    template <class Build>
    bool match(const Build& build) const {
        return holds(
            compare_integers(build, passes(), inputs_.empty() ? random_inputs(build) : inputs_, allowed_));
    }

private:
    allowance allowed_;
    std::vector<tensor> inputs_;
};

}  // namespace testing

/// Empty if the passes, run in the given order in both drivers, leave only integers in the quantized program
/// of `build(program&)`, and their results agree with the program's in floats, within the allowance. Each
/// pass must rewrite something. Inputs are random by default.
template <class... Passes, class Build>
[[nodiscard]] std::pmr::string integers_from(
    const Build& build, const allowance& allowed = exactly, std::vector<tensor> inputs = {}) {
    return testing::compare_integers(
        build, testing::runners_of<Passes...>, inputs.empty() ? random_inputs(build) : inputs, allowed);
}
/// The check as a matcher: CHECK_THAT(build, becomes_integers<lower_quantized>(nearly)).
template <class... Passes>
[[nodiscard]] testing::integer_matcher becomes_integers(const allowance& allowed = exactly) {
    return {testing::runners_of<Passes...>, allowed};
}

}  // namespace headrace

#endif
