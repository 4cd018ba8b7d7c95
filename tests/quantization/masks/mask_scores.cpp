// SPDX-License-Identifier: MIT
// Tests mask_scores, for infinities that reach a softmax, in quantized programs.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <headrace/dialect/quantized_decomposed.hpp>
#include <headrace/quantization/quantize_graph.hpp>
#include <headrace/run/execution.hpp>

#include "../../support/program.hpp"

using namespace headrace;
using testing::program;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double lowest = -static_cast<double>(std::numeric_limits<float>::max());
using reals = std::vector<double>;
using inputs = std::vector<tensor>;

constexpr std::int64_t size = 4;

/// Returns the scores of a sample, between -3 and 3.
tensor scores_of(std::size_t sample) {
    reals numbers;
    for (std::size_t i = 0; i != size * size; ++i)
        numbers.push_back(static_cast<double>((i * 7 + sample * 5) % 13) / 2 - 3);
    return tensor::of(dtype::float32, {1, size, size}, numbers);
}
/// Returns one number per key; the last one, or the last two, are `other`.
tensor keys_of(dtype type, std::size_t sample, double kept, double other) {
    reals numbers(size, kept);
    numbers[3] = other;
    if (sample % 2 == 1) numbers[2] = other;
    return tensor::of(type, {1, 1, size}, numbers);
}

struct masked_program {
    std::function<value(program&, value scores, value mask)> masked;
    dtype type = dtype::boolean;  ///< of the mask
    double kept = 1;
    double other = 0;

    void build(program& p) const {
        const value scores = p.input(dtype::float32, {1, size, size});
        const value mask = p.input(type, {1, 1, size});
        p.output(p.make<aten::softmax_int>({.self = masked(p, scores, mask), .dim = -1}));
        p.finish();
    }
    [[nodiscard]] inputs sample(std::size_t i) const { return {scores_of(i), keys_of(type, i, kept, other)}; }
};

struct quantized_program {
    program p;
    quantization_summary summary;
};

void quantize(const masked_program& m, quantized_program& q) {
    m.build(q.p);
    pass_context context(&infer_node);
    const sample_source samples{6, [&](std::size_t i) -> result<inputs> { return m.sample(i); }};
    const auto done = quantize_graph(q.p.g, context, {}, samples);
    REQUIRE(done.has_value());
    REQUIRE(context.diagnostics().empty());
    q.summary = done.value();
}

/// Returns the largest error over all samples; the weights of excluded keys must be exactly 0.
double largest_error(const masked_program& m) {
    program real;
    m.build(real);
    quantized_program quantized;
    quantize(m, quantized);
    double largest = 0;
    for (std::size_t s = 0; s != 6; ++s) {
        const auto expected = execute(real.g, m.sample(s));
        const auto got = execute(quantized.p.g, m.sample(s));
        REQUIRE(expected.has_value());
        REQUIRE(got.has_value());
        for (std::int64_t i = 0; i != expected.value()[0].size(); ++i) {
            const double share = got.value()[0].real(i);
            if (i % size == 3 || (s % 2 == 1 && i % size == 2)) CHECK(share == 0);
            largest = std::max(largest, std::abs(expected.value()[0].real(i) - share));
        }
    }
    return largest;
}

value number(program& p, double x) {
    return p.constant<float>(dtype::float32, {1, 1, 1}, {static_cast<float>(x)});
}
value sum(program& p, value a, value b) { return p.make<aten::add_tensor>({.self = a, .other = b}); }
value product(program& p, value a, value b) { return p.make<aten::mul_tensor>({.self = a, .other = b}); }
value chosen(program& p, value condition, double yes, double no) {
    return p.make<aten::where_self>({.condition = condition, .self = number(p, yes), .other = number(p, no)});
}
value inverted(program& p, value m) { return p.make<aten::sub_tensor>({.self = number(p, 1), .other = m}); }

}  // namespace

TEST_CASE("whatever stands for minus infinity, what is added to scores is a mask") {
    const double never = GENERATE(-infinity, lowest, -1e10, -1e9, -1e5, -1e4);
    CHECK(largest_error({[&](program& p, value x, value m) { return sum(p, x, chosen(p, m, 0, never)); }}) <
        0.02);
    CHECK(largest_error({[&](program& p, value x, value m) {
        return p.make<aten::masked_fill_scalar>(
            {.self = x, .mask = p.make<aten::logical_not>({.self = m}), .value = never});
    }}) < 0.02);
}

TEST_CASE("a mask of ones and zeros, by arithmetic") {
    const dtype type = GENERATE(dtype::float32, dtype::int64);
    const auto real = [type](program& p, value m) {
        return type == dtype::float32 ? m : p.make<aten::_to_copy>({.self = m, .dtype = dtype::float32});
    };
    const auto error = [&](auto masked) { return largest_error({masked, type, 1, 0}); };
    CHECK(error([&](program& p, value x, value m) {
        return sum(p, x, product(p, inverted(p, real(p, m)), number(p, lowest)));
    }) < 0.02);
    CHECK(error([&](program& p, value x, value m) {  // GPT-2's first form
        const value b = real(p, m);
        const value far = product(p, inverted(p, b), number(p, 1e10));
        return p.make<aten::sub_tensor>({.self = product(p, x, b), .other = far});
    }) < 0.02);
    CHECK(error([&](program& p, value x, value m) {  // CLIP's
        const value i = inverted(p, real(p, m));
        const value is_missing = p.make<aten::ne_scalar>({.self = i, .other = 0});
        return sum(
            p, x, p.make<aten::where_self>({.condition = is_missing, .self = number(p, lowest), .other = i}));
    }) < 0.02);
}

TEST_CASE("limits, signs, factors and moves between a mask and the softmax") {
    const auto masked = [](program& p, value x, value m) { return sum(p, x, chosen(p, m, 0, -infinity)); };
    CHECK(largest_error({[&](program& p, value x, value m) {
        return p.make<aten::maximum>({.self = masked(p, x, m), .other = number(p, lowest)});
    }}) < 0.02);
    CHECK(largest_error({[&](program& p, value x, value m) {
        const value far = chosen(p, m, 0, 1e9);
        return p.make<aten::neg>({.self = p.make<aten::sub_tensor>({.self = far, .other = x})});
    }}) < 0.02);
    CHECK(largest_error({[&](program& p, value x, value m) {
        return product(p, masked(p, x, m), number(p, 0.5));
    }}) < 0.02);
    CHECK(largest_error({[&](program& p, value x, value m) {
        const value row = chosen(p, m, 0, -1e9);
        const value parts = p.make<aten::expand>({.self = row, .size = {1, size, size}});
        const value some = p.make<aten::slice_tensor>({.self = parts, .dim = 1, .start = 0, .end = 2});
        return sum(p, x, p.make<aten::cat>({.tensors = std::vector{some, some}, .dim = 1}));
    }}) < 0.02);
}

TEST_CASE("a mask that is an input is told by the numbers of its samples") {
    const double never = GENERATE(-infinity, lowest, -1e9);
    const auto added = [](program& p, value x, value m) { return sum(p, x, m); };
    CHECK(largest_error({added, dtype::float32, 0, never}) < 0.02);
    quantized_program with_bias;
    quantize({added, dtype::float32, -0.75, never}, with_bias);
    CHECK(with_bias.summary.mask_inputs.size() == 1);
    CHECK(with_bias.summary.warnings.empty());
    CHECK(largest_error({added, dtype::float32, -0.75, never}) < 0.02);
}

TEST_CASE("of a bias with minus infinities, the bias stays") {
    CHECK(largest_error({[&](program& p, value x, value m) {
        const float far = -std::numeric_limits<float>::infinity();
        const value bias = p.constant<float>(dtype::float32, {1, size, size},
            {0, .25F, .5F, far, -.25F, 0, .25F, far, -.5F, -.25F, 0, far, -.75F, -.5F, -.25F, far});
        const value biased = sum(p, x, bias);
        return sum(p, biased, chosen(p, m, 0, -1e9));
    }}) < 0.02);
}

TEST_CASE("an infinity that is not a mask is not lost in silence") {
    const bool is_pooled = GENERATE(false, true);
    program p;
    const value x = p.input(dtype::float32, {1, size, size});
    const value far = p.constant<float>(dtype::float32, {1, 1, 1}, {-std::numeric_limits<float>::infinity()});
    const value none = p.constant(dtype::boolean, {1, 1, size}, {false, false, false, true});
    const value y = p.make<aten::where_self>({.condition = none, .self = far, .other = x});
    p.output(is_pooled ? p.make<aten::amax>({.self = y, .dim = {2}, .keepdim = true}) : y);
    p.finish();
    pass_context context(&infer_node);
    const sample_source samples{2, [](std::size_t i) -> result<inputs> { return inputs{scores_of(i)}; }};
    const auto done = quantize_graph(p.g, context, {}, samples);
    REQUIRE(done.has_value());
    const bool is_lost = std::ranges::any_of(done.value().lost, [](const std::string& w) {
        return w.find("-inf is outside of the quantized range [") != std::string::npos;
    });
    CHECK(is_lost == !is_pooled);  // a maximum never is the smallest number
}

TEST_CASE("large numbers that are no mask are left as they are") {
    program p;
    const value x = p.input(dtype::float32, {1, size, size});
    const value large = p.make<aten::mul_tensor>({.self = x, .other = number(p, 1e5)});
    p.output(p.make<aten::sigmoid>({.self = p.make<aten::neg>({.self = large})}));
    p.finish();
    pass_context context(&infer_node);
    const sample_source samples{2, [](std::size_t i) -> result<inputs> { return inputs{scores_of(i)}; }};
    REQUIRE(quantize_graph(p.g, context, {}, samples).has_value());
    CHECK(p.g.census().count(info_of<aten::where_self>) == 0);
}
