// SPDX-License-Identifier: MIT
// Tests all lowerings of quantized ops together: chains of them, with and without quantization between their
// steps.
#include <algorithm>
#include <numeric>
#include <vector>

#include <catch2/catch.hpp>

#include <headrace/passes/decompose/activations.hpp>
#include <headrace/passes/decompose/arithmetic.hpp>
#include <headrace/passes/decompose/trigonometric.hpp>
#include <headrace/passes/quantize/lower_quantized.hpp>

#include "../../support/quantized_test.hpp"

using namespace headrace;

namespace {

static_assert(effects_of<lower_quantized>::sound && effects_of<lower_quantized>::removed_set.empty());
static_assert(visits_in_execution_order<lower_quantized>);

constexpr coding a = int8_codes(0.05, 3);
constexpr coding b = int8_codes(0.0313, -7);
constexpr coding wide = int16_codes(3e-4);

template <class Build>
std::pmr::string compare(const Build& build, const allowance& allowed = nearly) {
    return integers_from<lower_quantized>(build, allowed);
}
value requantized(program& p, value v, const coding& c) { return real_of(p, quantized(p, v, c), c); }
value convolution_of(program& p, value v, std::int64_t in, std::int64_t out, value bias) {
    const value weight = real_per_channel(p, constant_codes(p, weight_codes(1), {out, in, 3, 3}),
        scales_around(0.004, static_cast<std::size_t>(out)), 0);
    return p.make<aten::convolution>({v, weight, bias, {1, 1}, {1, 1}, {1, 1}, false, {0, 0}, 1});
}

}  // namespace

TEST_CASE("arithmetic of results that nothing has quantized") {
    const auto polynomial = [](coding x, coding y, coding to) {
        return [=](program& p) {
            const value u = real_input(p, x, {12, 30});
            const value v = real_input(p, y, {30});
            const value sum = p.make<aten::add_tensor>({u, v});
            const value product = p.make<aten::mul_tensor>({sum, p.make<aten::sub_tensor>({u, v})});
            const value shifted = p.make<aten::add_tensor>({product, float_constant(p, {}, {0.75})});
            output_in(p, p.make<aten::maximum>({p.make<aten::neg>({shifted}), v}), to);
        };
    };
    CHECK(compare(polynomial(a, b, int8_codes(0.31, 40))) == "");
    // The factors of a product have 16 bits, each rounded by up to 3e-4 while the other is up to 20.
    CHECK(compare(polynomial(wide, wide, int16_codes(3.1e-3)), {4, 0.8}) == "");
    const auto deviations = [](coding x, coding to) {  // the operand of a variance
        return [=](program& p) {
            const value u = real_input(p, x, {12, 30});
            const value sum = p.make<aten::sum_dim_intlist>({u, int_list{1}, true});
            const value mean = p.make<aten::mul_tensor>({sum, float_constant(p, {}, {1.0 / 30})});
            const value apart = p.make<aten::sub_tensor>({u, mean});
            const value square = p.make<aten::mul_tensor>({apart, apart});
            const value squares = p.make<aten::sum_dim_intlist>({square, int_list{1}, true});
            output_in(p, p.make<aten::mul_tensor>({squares, float_constant(p, {}, {1.0 / 30})}), to);
        };
    };
    CHECK(compare(deviations(a, int8_codes(0.173, -128))) == "");
    CHECK(compare(deviations(wide, int8_codes(0.353, -128))) == "");
    CHECK(compare(deviations(wide, int16_codes(1e-3)), {1, 0.3}) == "");
}

TEST_CASE("clamps before a quantize, and between other ops") {
    const auto last = [](double least, double most) {
        return [=](program& p) {
            const value sum = p.make<aten::add_tensor>({real_input(p, a, {40, 30}), real_input(p, b, {30})});
            output_in(p, p.make<aten::clamp>({sum, scalar(least), scalar(most)}), int8_codes(0.0477, -128));
        };
    };
    CHECK(compare(last(0, 1e9)) == "");
    CHECK(compare(last(0, 6)) == "");
    CHECK(compare(last(-0.31, 1.234)) == "");
    const auto between = [](double most) {
        return [=](program& p) {
            const value x = real_input(p, a, {12, 30});
            const value sum = p.make<aten::add_tensor>({x, real_input(p, b, {30})});
            const value cut = p.make<aten::clamp>({sum, scalar(0), scalar(most)});
            output_in(p, p.make<aten::sub_tensor>({cut, x}), int8_codes(0.0777, 2));
        };
    };
    CHECK(compare(between(1e9)) == "");
    CHECK(compare(between(6)) == "");
    CHECK(compare(between(1.234)) == "");
}

TEMPLATE_TEST_CASE("activations before a quantize", "", aten::relu, aten::relu6, aten::hardtanh) {
    const auto activated = [](program& p) {
        const value x = real_input(p, a, {1, 4, 8, 8});
        const value v = convolution_of(p, x, 4, 4, float_constant(p, {4}, {0.3, -0.2, 1, 0}));
        output_in(p, p.make<TestType>({v}), int8_codes(0.0513, -128));
        output_in(p, p.make<TestType>({p.make<aten::add_tensor>({x, v})}), int8_codes(0.0713, -40));
    };
    CHECK_THAT(activated, (becomes_integers<decompose_rectifiers, lower_quantized>(nearly)));
}

TEST_CASE("a network of convolutions, a residual, a pooling and a classifier") {
    constexpr coding first = int8_codes(0.0913, -128);
    constexpr coding second = int8_codes(0.153, 4);
    constexpr coding third = int8_codes(0.0419, -30);
    const auto network = [=](program& p) {
        const value x = real_input(p, a, {1, 3, 8, 8});
        value v = convolution_of(p, x, 3, 4, float_constant(p, {4}, {0.3, -0.2, 1, 0}));
        v = requantized(p, p.make<aten::clamp>({v, scalar(0)}), first);
        const value w =
            requantized(p, convolution_of(p, v, 4, 4, real_constant(p, int32_codes(1e-6), {4})), second);
        v = requantized(p, p.make<aten::add_tensor>({w, v}), second);
        v = p.make<aten::max_pool2d>({v, {2, 2}, {2, 2}});
        v = requantized(p, p.make<aten::cat>({{v, p.make<aten::flip>({v, {2}})}, 1}), second);
        v = requantized(p, p.make<aten::avg_pool2d>({v, {4, 4}}), third);
        v = p.make<aten::view>({v, {1, 8}});
        const value weight = p.make<aten::t>({real_constant(p, weight_codes(0.01), {8, 10})});
        const value logits =
            requantized(p, p.make<aten::linear>({v, weight, std::nullopt}), int8_codes(0.0737, 1));
        output_in(p, logits, int8_codes(0.0737, 1));
        p.output(p.make<aten::argmax>({logits, 1}));
    };
    // A difference of one quantization step carries through later layers.
    std::vector<tensor> inputs = random_inputs(network);
    CHECK(compare(network, {1, 0.3}) == "");
    program p;
    graph& g = lowered<lower_quantized>(p, network);
    CHECK(real_value_of(g).empty());
    CHECK(count_of<tosa::conv2d>(g) == 3);
    CHECK(count_of<tosa::add>(g) == 1);
}

TEST_CASE("accumulators of channels that are computed with before they are quantized") {
    const auto build = [](program& p) {
        const value x = real_input(p, a, {1, 4, 8, 8});
        const value v = convolution_of(p, x, 4, 4, float_constant(p, {4}, {0.3, -0.2, 1, 0}));
        const value sum = p.make<aten::add_tensor>({v, x});
        output_in(p, sum, int8_codes(0.1513, 4));
        output_in(p, p.make<aten::mul_tensor>({v, sum}), int8_codes(0.613, -90));
        output_in(p, p.make<aten::sum_dim_intlist>({v, int_list{1}, false}), int8_codes(0.317));
        output_in(p, p.make<aten::clamp>({v, scalar(-0.777), scalar(3.21)}), int8_codes(0.0531, -128));
    };
    CHECK(compare(build) == "");
}

TEST_CASE("one tensor read by ops of every kind") {
    const auto build = [](program& p) {
        const value x = real_input(p, a, {1, 4, 6, 6});
        output_in(p, p.make<aten::abs>({x}), int8_codes(0.0517, -9));
        output_in(p, p.make<aten::sum_dim_intlist>({x, int_list{2, 3}, false}), int8_codes(0.317));
        output_in(p, p.make<aten::avg_pool2d>({x, {2, 3}}), b);
        output_in(p, p.make<aten::upsample_bilinear2d>({x, {12, 9}, false, std::nullopt, std::nullopt}), b);
        output_in(p, p.make<aten::select_int>({x, 1, 2}), b);
        p.output(p.make<aten::gt_tensor>({x, float_constant(p, {}, {0.333})}));
    };
    CHECK(compare(build) == "");
}

TEST_CASE("casts from integers are codes of scale 1 where the target has no floats") {
    const auto build = [](target_spec target) {
        return [=](program& p) {
            p.g.set_target(target);
            const value x = p.make<aten::_to_copy>({p.input(dtype::int8, {4, 50}), dtype::float32});
            output_in(
                p, p.make<aten::mul_tensor>({x, float_constant(p, {}, {0.0173})}), int8_codes(0.0312, 5));
        };
    };
    CHECK(compare(build(integer_target)) == "");
    CHECK(count_after<aten::mul_tensor, lower_quantized>(build(mixed_target)) == 1);
}

TEST_CASE("it runs where the target has integers, and on quantized programs alone where it has floats too") {
    const auto runs = [](std::optional<target_spec> target, bool is_quantized) {
        program p;
        if (target) p.g.set_target(*target);
        p.output(is_quantized ? real_input(p, a, {2}) : p.input(dtype::float32, {2}));
        p.finish();
        return lower_quantized{}.should_run(p.g);
    };
    for (const bool is_quantized : {false, true}) {
        CHECK(!runs(parse_target("TOSA-1.0+FP"), is_quantized));
        CHECK(runs(integer_target, is_quantized));
        CHECK(runs(mixed_target, is_quantized) == is_quantized);
        CHECK(runs(std::nullopt, is_quantized));
    }
}

TEST_CASE("float parts stay between quantized ones") {
    const auto build = [](program& p) {
        p.g.set_target(mixed_target);
        const value x = real_input(p, a, {4, 5});
        const value y = p.make<aten::exp>({p.make<aten::add_tensor>({x, real_input(p, b, {4, 5})})});
        output_in(p, p.make<aten::maximum>({requantized(p, y, wide), x}), b);
    };
    CHECK_THAT(build, computes_the_same<lower_quantized>().for_inputs(random_inputs(build)).within(1e-4));
    program p;
    const graph& g = lowered<lower_quantized>(p, build);
    CHECK(count_of<aten::exp>(g) == 1);
    CHECK(count_of<tosa::add>(g) == 1);
    CHECK(count_of<tosa::maximum>(g) == 1);
    CHECK(count_of<quantized_decomposed::dequantize_per_tensor>(g) == 1);
    CHECK(count_of<quantized_decomposed::quantize_per_tensor>(g) == 1);
}

// Found by random programs. Integer computation uses factors of 16 bits, and rounds differently than floats;
// decompositions whose floats stay floats must depend on neither.
TEST_CASE("decomposed functions of dequantized numbers, where the target has floats") {
    const auto build = [](const coding& c, const auto& function) {
        return [&, c](program& p) {
            p.g.set_target(mixed_target);
            p.output(function(p, real_input(p, c, {256})));
        };
    };
    std::vector<double> codes(256);
    std::iota(codes.begin(), codes.end(), -128.0);
    const auto all_codes = [&](double without) {
        std::vector<double> others = codes;
        std::ranges::replace(others, without, without + 1);
        return std::vector{tensor::of(dtype::int8, {256}, others)};
    };
    const auto rest = [](program& p, value x) { return p.make<aten::fmod_tensor>({x, x}); };
    const auto modulus = [](program& p, value x) { return p.make<aten::remainder_tensor>({x, x}); };
    const auto inverse = [](program& p, value x) { return p.make<aten::erfinv>({x}); };
    for (const double scale : {0.006223771721124649, 0.05, 0.0313}) {
        const coding c = int8_codes(scale, -6);
        CHECK(compare_runs<decompose_division, lower_quantized>(build(c, rest), all_codes(-6)) == "");
        CHECK(compare_runs<decompose_division, lower_quantized>(build(c, modulus), all_codes(-6)) == "");
    }
    const auto gate = [](program& p, value x) { return p.make<aten::hardsigmoid>({x}); };
    for (const double scale : {0.03141592815518379, 0.0277, 0.05}) {
        const coding c = int8_codes(scale, -7);
        CHECK(compare_runs<decompose_rectifiers, lower_quantized>(build(c, gate), all_codes(-7)) == "");
    }
    const coding near_one = int8_codes(0.009992554783821106, 27);  // up to 0.9992
    const std::vector inputs{tensor::of(dtype::int8, {256}, codes)};
    CHECK(compare_runs<decompose_erfinv, lower_quantized>(build(near_one, inverse), inputs, 1e-4) == "");
}
