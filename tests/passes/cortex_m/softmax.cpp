// SPDX-License-Identifier: MIT
// Tests that a decomposed softmax becomes CMSIS-NN's, which is closer to the real one.
#include <algorithm>
#include <cmath>
#include <random>

#include <catch2/catch.hpp>

#include <headrace/passes/cortex_m/products.hpp>
#include <headrace/passes/cortex_m/softmax.hpp>

#include "../../support/npu_test.hpp"

using namespace headrace;

namespace {

static_assert(effects_of<select_softmax>::sound);

/// Scales of the int8 tensors of a softmax.
struct softmax_scales {
    int_list shape{3, 17};
    double input = 1.0 / 16, difference = 1.0 / 16, power = 1.0 / 255, sum = 17.0 / 255, inverse = 1.0 / 255;
    double result = 1.0 / 255;
    std::int64_t input_zero = 5, result_zero = -128;
    double (*power_of)(double) = [](double x) { return std::exp(x); };
    double (*inverse_of)(double) = [](double x) { return 1 / x; };
    bool is_difference_read = false;
    bool is_viewed = false;  // the powers, as a matrix
};

value rescaled(program& p, value v, double factor, std::int64_t from, std::int64_t to, dtype type) {
    const auto f = multiplier_and_shift(factor, true).value();
    return rescaled_by(p, v,
        {.multipliers = {f.multiplier}, .shift = f.shift, .input_zero = from, .output_zero = to, .to = type});
}
value widened(program& p, value v, std::int64_t zero) { return rescaled(p, v, 1, zero, 0, dtype::int32); }
value narrowed(program& p, value v, double factor, std::int64_t zero) {
    return rescaled(p, v, factor, 0, zero, dtype::int8);
}
value tabulated(program& p, value v, const coding& from, const coding& to, double (*f)(double)) {
    std::vector<std::int64_t> table;
    for (std::int64_t i = -128; i != 128; ++i) {
        const double real = f(static_cast<double>(i - from.zero_point) * from.scale);
        const double step = std::round(real / to.scale) + static_cast<double>(to.zero_point);
        table.push_back(static_cast<std::int64_t>(std::clamp(step, -128.0, 127.0)));
    }
    return p.make<tosa::table>({.input1 = v, .table = integer_constant(p, dtype::int8, {256}, table)});
}
value as_matrix(program& p, value v, std::int64_t row) {
    return p.make<tosa::reshape>(
        {v, p.make<tosa::const_shape>({.values = {meta_of(v)->elements() / row, row}})});
}
value softmax_of(program& p, value x, const softmax_scales& d) {
    const std::int64_t axis = static_cast<std::int64_t>(d.shape.size()) - 1;
    const value largest = p.make<tosa::reduce_max>({.input = x, .axis = axis});
    const auto shifted_left = [&](value v) { return rescaled(p, v, 1 << 19, d.input_zero, 0, dtype::int32); };
    const value sub = p.make<tosa::sub>({.input1 = shifted_left(x), .input2 = shifted_left(largest)});
    const value difference = narrowed(p, sub, d.input / d.difference / (1 << 19), 127);
    if (d.is_difference_read) p.output(difference);
    value power =
        tabulated(p, difference, int8_codes(d.difference, 127), int8_codes(d.power, -128), d.power_of);
    if (d.is_viewed) power = as_matrix(p, power, d.shape.back());
    const std::int64_t last = d.is_viewed ? 1 : axis;
    const value all = p.make<tosa::reduce_sum>({.input = widened(p, power, -128), .axis = last});
    const value sum = narrowed(p, all, d.power / d.sum, -128);
    const value inverse =
        tabulated(p, sum, int8_codes(d.sum, -128), int8_codes(d.inverse, -128), d.inverse_of);
    const value product = p.make<tosa::mul>({.input1 = widened(p, power, -128),
        .input2 = widened(p, inverse, -128),
        .shift = integer_constant(p, dtype::int8, {1}, {0})});
    return narrowed(p, product, d.power * d.inverse / d.result, d.result_zero);
}
npu_builder decomposed(const softmax_scales& d) {
    return for_target(
        integer_target, [d](program& p) { return softmax_of(p, p.input(dtype::int8, d.shape), d); });
}

/// How far results are from those of a softmax in float, in steps.
struct step_errors {
    double mean = 0, worst = 0;
};
step_errors errors_of(const graph& g, const tensor& x, const softmax_scales& d) {
    const std::vector<tensor> inputs{x};
    const tensor y = run_graph(g, inputs).value().front();
    const std::int64_t row = d.shape.back();
    step_errors off;
    for (std::int64_t start = 0; start != x.size(); start += row) {
        double sum = 0;
        for (std::int64_t i = start; i != start + row; ++i) sum += std::exp(x.real(i) * d.input);
        for (std::int64_t i = start; i != start + row; ++i) {
            const double steps = std::exp(x.real(i) * d.input) / sum / d.result;
            const double by = std::abs(y.real(i) - static_cast<double>(d.result_zero) - steps);
            off.mean += by / static_cast<double>(x.size());
            off.worst = std::max(off.worst, by);
        }
    }
    return off;
}
tensor random_rows(const softmax_scales& d, unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<double> logit(0, 2 / d.input);
    std::vector<double> numbers(static_cast<std::size_t>(element_count(d.shape)));
    for (double& x : numbers) x = std::clamp(std::round(logit(random)), -128.0, 127.0);
    return tensor::of(dtype::int8, extents(d.shape.begin(), d.shape.end()), numbers);
}

}  // namespace

TEST_CASE("the kernel is closer to a softmax in float than the operators between int8 tensors") {
    const softmax_scales cases[] = {{.shape = {100, 12}}, {.shape = {2, 4, 50, 17}, .difference = 20.0 / 255},
        {.shape = {5, 20, 12}, .is_viewed = true},
        {.shape = {400, 10}, .input = 0.25, .difference = 24.0 / 255, .sum = 6.0 / 255},
        {.shape = {60, 99}, .input = 0.04, .sum = 60.0 / 255, .inverse = 0.9 / 255, .result = 0.96 / 255}};
    for (const softmax_scales& d : cases) {
        const npu_builder build = decomposed(d);
        const tensor x = random_rows(d, 7);
        program given, p;
        const step_errors before = errors_of(lowered<>(given, build), x, d);
        const graph& g = lowered<select_softmax>(p, build);
        CHECK(count_of<cortex_m::softmax>(g) == 1);
        CHECK(count_of<tosa::table>(g) == 0);
        const step_errors after = errors_of(g, x, d);
        CHECK(after.mean < before.mean);
        CHECK(after.worst < before.worst);
        CHECK(after.worst < 1.25);
    }
}

TEST_CASE("steps of 1/256 need no RESCALE") {
    const npu_builder build = decomposed({.result = 1.0 / 256});
    CHECK(count_after<cortex_m::softmax, select_softmax>(build) == 1);
    CHECK(count_after<tosa::rescale, select_softmax>(build) == 0);
    CHECK(count_after<tosa::rescale, select_softmax>(decomposed({})) == 1);
    CHECK(count_after<tosa::rescale, select_softmax>(
              decomposed({.result = 1.0 / 256, .result_zero = -100})) == 1);
}

TEST_CASE("the parameters are those of the input's scale") {
    for (const double scale : {0.003, 0.02, 0.1, 0.9}) {
        program p;
        const npu_builder build =
            decomposed({.input = scale, .difference = std::min(scale, 20.0 / 255), .sum = 17.0 / 255});
        for (const node& n : lowered<select_softmax>(p, build).nodes_of(info_of<cortex_m::softmax>)) {
            const auto& a = *args_if<cortex_m::softmax>(n);
            const double factor =
                std::ldexp(static_cast<double>(a.input_multiplier), static_cast<int>(a.input_shift) - 31);
            CHECK(std::ldexp(factor, -26) == Approx(scale).epsilon(0.002));
            CHECK(a.diff_min == -((std::int64_t{31} << 26) >> a.input_shift));
        }
        CHECK(count_of<cortex_m::softmax>(p.g) == 1);
    }
}

TEST_CASE("finer steps, long rows, other functions and values with other readers stay") {
    const auto steep = [](double x) { return std::exp2(x * x * x / 64); };
    const auto line = [](double x) { return std::max(0.0, 1 + x / 4); };
    const auto root = [](double x) { return 1 / std::sqrt(x); };
    for (const softmax_scales& d : {softmax_scales{.result = 1.0 / 1000}, softmax_scales{.shape = {1, 4096}},
             softmax_scales{.power_of = steep}, softmax_scales{.power_of = line},
             softmax_scales{.inverse_of = root}, softmax_scales{.is_difference_read = true}}) {
        CHECK_THAT(decomposed(d), is_left_alone_by<select_softmax>());
    }
}

TEST_CASE("a product of shares needs no RESCALE of them") {
    const softmax_scales d{.shape = {1, 8, 12}};
    const npu_builder build = for_target(integer_target, [&](program& p) {
        const value shares = softmax_of(p, p.input(dtype::int8, d.shape), d);
        const value product = p.make<tosa::matmul>({.a = shares,
            .b = constant_codes(p, int8_codes(1), {1, 12, 5}),
            .a_zp = integer_constant(p, dtype::int8, {1}, {d.result_zero}),
            .b_zp = integer_constant(p, dtype::int8, {1}, {3}),
            .output_type = dtype::int32});
        return narrowed(p, product, 1.0 / 300, 1);
    });
    CHECK(count_after<tosa::rescale, select_softmax, select_products>(build) == 0);
    CHECK_THAT(build,
        (computes_the_same<select_softmax, select_products>().for_inputs({random_rows(d, 3)}).within(2)));
}
