// SPDX-License-Identifier: MIT
// Tests quantize_graph and its parts, on small programs.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <set>
#include <span>
#include <vector>

#include <headrace/dialect/quantized_decomposed.hpp>
#include <headrace/ir/listing.hpp>
#include <headrace/quantization/fold_weights.hpp>
#include <headrace/quantization/mix_precision.hpp>
#include <headrace/quantization/quantize_graph.hpp>
#include <headrace/quantization/relax_clamps.hpp>
#include <headrace/quantization/search_quantization.hpp>
#include <headrace/quantization/smooth_layers.hpp>
#include <headrace/run/execution.hpp>

#include "../support/program.hpp"

using namespace headrace;
using testing::program;

namespace {

namespace qd = quantized_decomposed;
using reals = std::vector<double>;

/// Samples of one input: ramps between -1 and 1, each a little larger than the last.
sample_source ramps(const graph& g, std::size_t count = 4) {
    const tensor_meta& meta = *g.inputs().begin()->results[0].meta;
    const extents shape(meta.shape.begin(), meta.shape.end());
    return {count, [shape, count](std::size_t s) -> result<std::vector<tensor>> {
                const std::int64_t size = eval::elements_in(shape);
                reals numbers;
                for (std::int64_t i = 0; i != size; ++i)
                    numbers.push_back(
                        (2.0 * static_cast<double>(i * 37 % size) / static_cast<double>(size) - 1) *
                        static_cast<double>(s + 1) / static_cast<double>(count));
                return std::vector{tensor::of(dtype::float32, shape, numbers)};
            }};
}

quantization_summary quantize(program& p, const quantization_config& config = {}) {
    pass_context context(&infer_node);
    const auto done = quantize_graph(p.g, context, config, ramps(p.g));
    REQUIRE(done.has_value());
    REQUIRE(context.diagnostics().empty());
    return done.value();
}

/// Returns the difference of the quantized program's results from the float program's for the last sample.
double error_of(const testing::builder& build, const quantization_config& config = {}) {
    program real;
    build(real);
    program p;
    build(p);
    quantize(p, config);
    const auto inputs = ramps(real.g).inputs(3).value();
    const auto expected = execute(real.g, inputs);
    const auto got = execute(p.g, inputs);
    REQUIRE(expected.has_value());
    REQUIRE(got.has_value());
    double largest = 0;
    for (std::int64_t i = 0; i != expected.value()[0].size(); ++i)
        largest = std::max(largest, std::abs(expected.value()[0].real(i) - got.value()[0].real(i)));
    return largest;
}

std::vector<double> scales_of(const graph& g) {
    std::vector<double> scales;
    for (const node& n : g.nodes()) {
        if (const auto* q = args_if<qd::quantize_per_tensor>(n)) scales.push_back(q->scale);
    }
    return scales;
}

void conv_relu(program& p) {
    const value x = p.input(dtype::float32, {1, 1, 4, 4});
    const value w = p.constant(dtype::float32, {2, 1, 1, 1}, {1.0F, -0.5F});
    const value b = p.constant(dtype::float32, {2}, {0.25F, 0.0F});
    const value y = p.make<aten::conv2d>({.input = x, .weight = w, .bias = b});
    p.output(p.make<aten::relu>({.self = y}));
}

value conv_of_norm(program& p) {
    const value x = p.input(dtype::float32, {1, 1, 4, 4});
    return p.make<aten::conv2d>({.input = x, .weight = p.constant(dtype::float32, {1, 1, 1, 1}, {2.0F})});
}
value norm_of(program& p, value y) {
    const value variance = p.constant(dtype::float32, {1}, {4.0F});
    const value half = p.constant(dtype::float32, {1}, {0.5F});
    return p.make<aten::batch_norm>({.input = y,
        .weight = variance,
        .bias = half,
        .running_mean = half,
        .running_var = variance,
        .training = false,
        .momentum = 0.1,
        .eps = 1e-5,
        .cudnn_enabled = false});
}

namespace own {
struct dialect;
/// An op without a kernel.
struct mystery : op<dialect, "own.mystery", "x"> {
    struct args {
        value x;
    };
};
struct dialect : dialect_of<"own", mystery> {};
result<void> infer_results(mystery, const args<mystery>& a, inference& out) {
    out.add(out.of(a.x));
    return {};
}
}  // namespace own

}  // namespace

TEST_CASE("a weight that is computed from constants is quantized as a weight") {
    const auto build = [](program& p) {
        const value x = p.input(dtype::float32, {2, 4});
        const value w = p.constant<float>(dtype::float32, {3, 4}, {1, 2, 3, 4, -1, 0, 1, 2, 5, 1, 1, 0});
        const value gain = p.constant<float>(dtype::float32, {3, 1}, {0.01F, 1, 100});
        const value bias = p.constant<float>(dtype::float32, {3}, {1, 2, 3});
        const value direction = p.make<aten::div_tensor>({w,
            p.make<aten::linalg_vector_norm>({.self = w, .ord = 2, .dim = int_list{1}, .keepdim = true})});
        p.output(p.make<aten::linear>({x, p.make<aten::mul_tensor>({direction, gain}),
            p.make<aten::add_scalar>({.self = bias, .other = 1.0})}));
    };
    program p;
    build(p);
    p.finish();
    quantize(p);
    CHECK(p.g.census().count(info_of<aten::div_tensor>) == 0);
    CHECK(p.g.census().count(info_of<aten::mul_tensor>) == 0);
    CHECK(p.g.census().count(info_of<aten::add_scalar>) == 0);
    // A scale per row, although they differ by four orders of magnitude.
    CHECK(p.g.census().count(info_of<qd::dequantize_per_channel>) == 2);
    CHECK(error_of(build) < 1.5);
}

TEST_CASE("a weight that nothing here can compute stays as it is") {
    program p;
    const value x = p.input(dtype::float32, {2, 4});
    const value w = p.constant<float>(dtype::float32, {3, 4}, {1, 2, 3, 4, -1, 0, 1, 2, 5, 1, 1, 0});
    p.output(p.make<aten::linear>({x, p.make<own::mystery>({w})}));
    p.finish();
    pass_context context(&infer_node);
    CHECK(fold_weights{}(p.g, context).value() == 0);
}

TEST_CASE("a convolution and the relu after it are quantized as one") {
    program p;
    testing::builder{conv_relu}(p);
    const quantization_summary summary = quantize(p);
    CHECK(summary.points == 4);  // input, weight, bias, result
    CHECK(summary.constants == 2);
    CHECK(count_of<qd::quantize_per_tensor>(p.g) == 2);
    CHECK(count_of<qd::dequantize_per_channel>(p.g) == 2);
    const node& relu = *p.g.nodes_of(info_of<aten::relu>).begin();
    CHECK(is<aten::conv2d>(*relu.operand(0).producer));
    CHECK(error_of(conv_relu) < 0.02);
}

TEST_CASE("the bias has the product of the scales of input and weight") {
    program p;
    testing::builder{conv_relu}(p);
    quantize(p);
    const node& conv = *p.g.nodes_of(info_of<aten::conv2d>).begin();
    const auto& of_input = args_of<qd::dequantize_per_tensor>(*conv.operand(0).producer);
    const auto scales = [&](std::size_t operand) {
        const auto& a = args_of<qd::dequantize_per_channel>(*conv.operand(operand).producer);
        const node& c = *a.scales.producer;
        return tensor_of_constant(args_of<builtin::constant>(c).data, *c.results[0].meta).to<double>();
    };
    CHECK(scales(1)[0] == static_cast<double>(1.0F / 127));
    CHECK(scales(2)[0] == static_cast<double>(static_cast<float>(of_input.scale) * (1.0F / 127)));
}

TEST_CASE("a bias that does not fit is saturated, not negated, and there is a warning") {
    program p;
    const value x = p.input(dtype::float32, {1, 2});
    const value w = p.constant(dtype::float32, {1, 2}, {1e-9F, 1e-9F});
    const value b = p.constant(dtype::float32, {1}, {1000.0F});
    p.output(p.make<aten::linear>({.input = x, .weight = w, .bias = b}));
    p.finish();
    const quantization_summary summary = quantize(p);
    REQUIRE(!summary.warnings.empty());
    CHECK(summary.warnings.back().find("does not fit in int32") != std::string::npos);
    const node& linear = *p.g.nodes_of(info_of<aten::linear>).begin();
    const auto& bias = args_of<qd::dequantize_per_channel>(*linear.operand(2).producer);
    const node& c = *bias.input.producer;
    CHECK(
        tensor_of_constant(args_of<builtin::constant>(c).data, *c.results[0].meta).integer(0) == 2147483647);
}

TEST_CASE("a norm is folded into a convolution, but not if something else reads that") {
    const auto alone = [](program& p) { p.output(norm_of(p, conv_of_norm(p))); };
    const auto shared = [](program& p) {
        const value y = conv_of_norm(p);
        p.output(p.make<aten::add_tensor>({.self = norm_of(p, y), .other = y}));
    };
    CHECK(error_of(alone) < 0.05);
    CHECK(error_of(shared) < 0.08);
    program p;
    testing::builder{alone}(p);
    quantize(p);
    CHECK(count_of<aten::batch_norm>(p.g) == 0);
}

TEST_CASE("the mean over many elements is exact to a step") {
    const auto mean = [](program& p) {
        const value x = p.input(dtype::float32, {1, 1, 112, 112});
        const value lifted =
            p.make<aten::add_tensor>({.self = x, .other = p.constant(dtype::float32, {1, 1, 1, 1}, {1.0F})});
        p.output(p.make<aten::mean_dim>({.self = lifted, .dim = int_list{2, 3}, .keepdim = true}));
    };
    CHECK(error_of(mean) < 0.01);  // relative to about 1; 4 % off with the smallest scale for 1 / 12544
}

TEST_CASE("scores that are masked with -infinity keep their range") {
    const auto masked = [](program& p) {
        const value x = p.input(dtype::float32, {1, 1, 4, 4});
        const value mask = p.constant(dtype::boolean, {1, 1, 1, 4}, {false, false, true, false});
        const value filled = p.make<aten::masked_fill_scalar>(
            {.self = x, .mask = mask, .value = -std::numeric_limits<double>::infinity()});
        p.output(p.make<aten::softmax_int>({.self = filled, .dim = -1}));
    };
    CHECK(error_of(masked) < 0.02);
    program p;
    testing::builder{masked}(p);
    quantize(p);
    for (const double scale : scales_of(p.g)) CHECK(scale < 0.05);
}

TEST_CASE("what is joined has one scale") {
    program p;
    const value x = p.input(dtype::float32, {1, 8});
    const value big =
        p.make<aten::mul_tensor>({.self = x, .other = p.constant(dtype::float32, {1, 1}, {16.0F})});
    const value small = p.make<aten::sigmoid>({.self = x});
    p.output(p.make<aten::cat>({.tensors = list<value>(std::vector{big, small}), .dim = 1}));
    p.finish();
    quantize(p);
    const std::vector<double> scales = scales_of(p.g);
    REQUIRE(scales.size() == 4);  // x, big, small, joined
    CHECK(scales[1] == scales[2]);
    CHECK(scales[2] == scales[3]);
    CHECK(scales[0] != scales[1]);
}

TEST_CASE("a rule leaves an op float, and another gives it 16 bits") {
    const auto two = [](program& p) {
        const value x = p.input(dtype::float32, {1, 8});
        p.output(p.make<aten::tanh>({.self = p.make<aten::sigmoid>({.self = x})}));
    };
    program p;
    testing::builder{two}(p);
    quantization_config config;
    config.rules.push_back({quantization_rule::subject_type::op, "aten.sigmoid.*", std::nullopt});
    op_scheme wide;
    wide.activation = {.type = dtype::int16,
        .lowest = -32767,
        .highest = 32767,
        .symmetric = true,
        .smallest_scale = 0x1p-12};
    config.rules.push_back({quantization_rule::subject_type::op, "aten.tanh.*", wide});
    quantize(p, config);
    const node& sigmoid = *p.g.nodes_of(info_of<aten::sigmoid>).begin();
    const node& tanh = *p.g.nodes_of(info_of<aten::tanh>).begin();
    CHECK(is<qd::dequantize_per_tensor>(*sigmoid.operand(0).producer));  // the input is quantized
    const auto& read = args_of<qd::dequantize_per_tensor>(*tanh.operand(0).producer);
    CHECK(read.dtype == dtype::int16);
    CHECK(
        args_of<qd::quantize_per_tensor>(*read.input.producer).input == const_cast<node&>(sigmoid).result());
}

TEST_CASE("a rule for a module fits its path, not a part of it") {
    program p;
    const value x = p.input(dtype::float32, {1, 8});
    node& n = *p.make<aten::sigmoid>({.self = x}).producer;
    p.g.annotate(n,
        module_stack{"L__self__,,net.Net;L__self___10,10,torch.nn.Linear;L__self___10_a,10.a,torch.nn.ReLU"});
    const auto fits = [&](const char* pattern) {
        return fits_rule(n, {quantization_rule::subject_type::module, pattern, std::nullopt});
    };
    for (const char* pattern : {"10", "10.a", "10.*", "1*"}) CHECK(fits(pattern));
    for (const char* pattern : {"0", "1", "a", "nn", "linear", "net.Net", "10."}) CHECK_FALSE(fits(pattern));
}

TEST_CASE("a rule that fits nothing is warned of, and so is a value that no sample changes") {
    const auto warnings = [](value (*make)(program&, value)) {
        program p;
        const value x = p.input(dtype::float32, {1, 8});
        p.output(make(p, x));
        p.finish();
        quantization_config config;
        config.rules.push_back({quantization_rule::subject_type::name, "none", std::nullopt});
        config.rules.push_back({quantization_rule::subject_type::op, "aten.add.Tensor", config.all});
        pass_context context(&infer_node);
        const auto done = quantize_graph(p.g, context, config, ramps(p.g, 8));
        REQUIRE(done.has_value());
        return done.value().warnings;
    };
    const auto zeros = warnings([](program& p, value x) {
        const value none = p.make<aten::zeros>({.size = int_list{1, 8}, .dtype = dtype::float32});
        return p.make<aten::add_tensor>({x, p.make<aten::mul_tensor>({x, none})});
    });
    REQUIRE(zeros.size() == 1);
    CHECK(zeros[0].find("the rule for name 'none' fits no node") == 0);
    const auto flat = warnings([](program& p, value x) {
        return p.make<aten::add_tensor>({x, p.make<aten::sub_tensor>({x, x})});
    });
    CHECK(flat.size() > 1);
}

TEST_CASE("branches to which different rules apply are quantized by their own") {
    program p;
    const value x = p.input(dtype::float32, {1, 2});
    const auto layer = [&](float number, const char* name) {
        const value weight = p.constant(dtype::float32, {2, 2}, {number, number, number, number});
        const value v = p.make<aten::linear>({.input = x, .weight = weight, .bias = {}});
        p.g.set_name(v, name);
        return v;
    };
    p.output(p.make<aten::add_tensor>({layer(0.5F, "wide"), layer(0.25F, "narrow")}));
    p.finish();
    quantization_config config;
    config.rules.push_back({quantization_rule::subject_type::name, "narrow", std::nullopt});
    quantize(p, config);
    CHECK(p.g.census().count(info_of<aten::linear>) == 2);
}

TEST_CASE("a batch times a matrix is quantized, and 16 bits keep numbers below the smallest scale") {
    const auto filtered = [](program& p) {
        const value x = p.input(dtype::float32, {2, 3, 2});
        const value bank = p.constant(dtype::float32, {2, 2}, {0.003F, 0.001F, 0.0F, 0.002F});
        p.output(p.make<aten::matmul>({x, bank}));
    };
    quantization_config config;
    config.all.activation = {.type = dtype::int16,
        .lowest = -32767,
        .highest = 32767,
        .symmetric = true,
        .smallest_scale = 0x1p-12};
    program p;
    testing::builder{filtered}(p);
    quantize(p, config);
    CHECK(count_of<aten::mm>(p.g) == 1);
    std::vector<double> scales;
    for (const node& n : p.g.nodes()) {
        if (const auto* q = args_if<qd::dequantize_per_tensor>(n)) scales.push_back(q->scale);
    }
    REQUIRE(!scales.empty());
    CHECK(*std::ranges::min_element(scales) == Approx(0.003 / 32767).epsilon(0.05));  // of the matrix
    CHECK(*std::ranges::max_element(scales) == Approx(1.0 / 32767).epsilon(0.05));    // of the input
    CHECK(std::ranges::count(scales, 0x1p-16) != 0);                                  // of the product
    CHECK(error_of(filtered, config) < 2e-5);
}

TEST_CASE("what only a logarithm reads has 32 bits, and the numbers of its scale are not rounded") {
    const auto levels = [](bool read_twice) {
        return [read_twice](program& p) {
            const value x = p.input(dtype::float32, {6, 2});
            const value turn = p.constant(dtype::float32, {2, 2}, {0.8F, 0.6F, -0.6F, 0.8F});
            const value turned = p.make<aten::mm>({x, turn});
            const value power = p.make<aten::mul_tensor>({turned, turned});
            const value bank = p.constant(dtype::float32, {2, 3}, {1.0F, 0.5F, 0.0F, 0.0F, 0.5F, 1.0F});
            const value mel = p.make<aten::mm>({power, bank});
            const value least = p.make<aten::clamp>({mel, scalar(1e-6), std::nullopt});
            const value level = p.make<aten::log10>({least});
            const value scaled = p.make<aten::mul_tensor>({level, p.constant(dtype::float32, {}, {10.0F})});
            p.output(scaled);
            if (read_twice) p.output(mel);
        };
    };
    quantization_config config;
    config.all.activation = {.type = dtype::int16, .lowest = -32767, .highest = 32767, .symmetric = true};
    const auto types_of = [&](bool read_twice) {
        program p;
        testing::builder{levels(read_twice)}(p);
        quantize(p, config);
        std::vector<dtype> types;
        for (const node& n : p.g.nodes()) {
            if (const auto* q = args_if<qd::quantize_per_tensor>(n)) types.push_back(q->dtype);
        }
        return types;
    };
    using enum dtype;
    CHECK(types_of(false) == std::vector{int16, int32, int32, int16});
    CHECK(std::ranges::count(types_of(true), int32) == 0);  // the output takes int16
    quantization_config bytes;
    program p;
    testing::builder{levels(false)}(p);
    quantize(p, bytes);
    for (const node& n : p.g.nodes_of(info_of<qd::quantize_per_tensor>))
        CHECK(args_of<qd::quantize_per_tensor>(n).dtype == int8);
}

TEST_CASE("the result does not depend on the order in which work is done") {
    const auto listing_with = [](const parallel_for& in_parallel) {
        program p;
        testing::builder{conv_relu}(p);
        pass_context context(&infer_node);
        const auto done = quantize_graph(p.g, context, {}, ramps(p.g, 40), in_parallel);
        REQUIRE(done.has_value());
        return listing(p.g);
    };
    const auto backwards = [](std::size_t count, const std::function<void(std::size_t)>& work) {
        for (std::size_t i = count; i-- != 0;) work(i);
    };
    CHECK(listing_with(run_serially) == listing_with(backwards));
}

TEST_CASE("patterns stand for whole texts") {
    CHECK(fits_pattern("aten.conv2d.default", "aten.*.default"));
    CHECK(fits_pattern("abc", "*"));
    CHECK(fits_pattern("abab", "*ab"));
    CHECK_FALSE(fits_pattern("abc", "ab"));
    CHECK_FALSE(fits_pattern("", "a*"));
}

namespace {

/// A chain of two layers whose hidden channels are scaled by 1, 64 and 1/64.
void unequal_chain(program& p) {
    const value x = p.input(dtype::float32, {1, 1, 4, 4});
    const value w1 = p.constant(dtype::float32, {3, 1, 1, 1}, {1.0F, 64.0F, 1.0F / 64});
    const value b1 = p.constant(dtype::float32, {3}, {0.5F, 32.0F, 1.0F / 128});
    const value w2 = p.constant(dtype::float32, {1, 3, 1, 1}, {1.0F, -1.0F / 64, 64.0F});
    const value b2 = p.constant(dtype::float32, {1}, {0.0F});
    const value y =
        p.make<aten::relu>({.self = p.make<aten::conv2d>({.input = x, .weight = w1, .bias = b1})});
    p.output(p.make<aten::conv2d>({.input = y, .weight = w2, .bias = b2}));
}

/// A scaled and shifted input, one channel of which is 64 times the others, and two layers that undo the
/// scaling. One alone would take the factors in.
void outlier_channel(program& p) {
    const value x = p.input(dtype::float32, {1, 4});
    const value factor = p.constant(dtype::float32, {4}, {1.0F, 64.0F, 0.5F, 1.0F});
    const value shift = p.constant(dtype::float32, {4}, {0.25F, 8.0F, 0.125F, 0.0F});
    const value w =
        p.constant(dtype::float32, {2, 4}, {1.0F, 1.0F / 64, 1.0F, -1.0F, 0.5F, -1.0F / 64, 2.0F, 1.0F});
    const value scaled = p.make<aten::mul_tensor>({.self = x, .other = factor});
    const value y = p.make<aten::add_tensor>({.self = scaled, .other = shift});
    p.output(p.make<aten::linear>({.input = y, .weight = w}));
    const value other = p.constant(dtype::float32, {1, 4}, {0.5F, 1.0F / 64, -1.0F, 1.0F});
    p.output(p.make<aten::linear>({.input = y, .weight = other}));
}

}  // namespace

TEST_CASE("equalized layers lose less, and compute the same") {
    quantization_config config;
    const double plain = error_of(unequal_chain, config);
    config.equalize = true;
    const double equalized = error_of(unequal_chain, config);
    CHECK(equalized < plain / 4);
    CHECK(equalized < 0.05);
}

TEST_CASE("functions of numbers between -1 and 1 read them with fixed parameters") {
    const auto build = [](program& p) {
        const value x = p.input(dtype::float32, {1, 4});
        const value y = p.make<aten::mul_tensor>({.self = x, .other = x});
        p.output(p.make<aten::atanh>({.self = p.make<aten::asin>({.self = y})}));
    };
    program p;
    testing::builder{build}(p);
    quantize(p);
    const auto scales = scales_of(p.g);  // of x, y, y for asin, its result, that result for atanh, its result
    REQUIRE(scales.size() == 6);
    CHECK(scales[2] == 0x1p-7);
    CHECK(scales[4] == static_cast<double>(1.998F / 256));
    CHECK(scales[1] < 0x1p-7);
}

TEST_CASE("a clamp that no sample reaches does not keep layers from being equalized") {
    const auto chain = [](program& p, double bound) {
        const value x = p.input(dtype::float32, {1, 1, 4, 4});
        const value w1 = p.constant(dtype::float32, {2, 1, 1, 1}, {0.03125F, 4.0F});
        const value w2 = p.constant(dtype::float32, {1, 2, 1, 1}, {32.0F, 0.25F});
        const value y = p.make<aten::conv2d>({.input = x, .weight = w1});
        const value c = p.make<aten::hardtanh>({.self = y, .min_val = 0.0, .max_val = bound});
        p.output(p.make<aten::conv2d>({.input = c, .weight = w2}));
    };
    for (const bool reached : {false, true}) {
        const auto build = [&](program& p) { chain(p, reached ? 3.0 : 6.0); };
        program p;
        testing::builder{build}(p);
        const auto relaxed = relax_clamps(p.g, ramps(p.g));
        REQUIRE(relaxed.has_value());
        CHECK(relaxed.value() == (reached ? 0 : 1));
        program quantized;
        testing::builder{build}(quantized);
        quantization_config config;
        config.equalize = true;
        quantize(quantized, config);
        const double hidden = scales_of(quantized.g)[1] * 255;
        CHECK(hidden == (reached ? Approx(3).epsilon(0.1) : Approx(0.875).epsilon(0.05)));
    }
}

TEST_CASE("smoothed layers lose less, and compute the same") {
    const double plain = error_of(outlier_channel);
    quantization_config config;
    config.smooth = true;
    CHECK(error_of(outlier_channel, config) < plain / 2);
    program real;
    testing::builder{outlier_channel}(real);
    program smoothed;
    testing::builder{outlier_channel}(smoothed);
    const auto inputs = ramps(real.g).inputs(3).value();
    const auto expected = execute(real.g, inputs).value();
    const auto count = smooth_layers(smoothed.g, ramps(smoothed.g));
    REQUIRE(count.has_value());
    CHECK(count.value() == 1);
    const auto got = execute(smoothed.g, inputs).value();
    for (std::int64_t i = 0; i != expected[0].size(); ++i)
        CHECK(got[0].real(i) == Approx(expected[0].real(i)).margin(1e-4));
}

TEST_CASE("headroom widens ranges of what is computed, and leaves those of constants") {
    const auto build = [](program& p) {
        const value x = p.input(dtype::float32, {1, 4});
        p.output(p.make<aten::mul_tensor>({.self = x, .other = p.constant(dtype::float32, {1}, {2.0F})}));
    };
    program plain;
    testing::builder{build}(plain);
    quantize(plain);
    program wide;
    testing::builder{build}(wide);
    quantization_config config;
    config.all.activation.headroom = 1.25;
    quantize(wide, config);
    const auto before = scales_of(plain.g);
    const auto after = scales_of(wide.g);
    REQUIRE(before.size() == 2);
    REQUIRE(after.size() == 2);
    for (std::size_t i = 0; i != 2; ++i) CHECK(after[i] == Approx(1.25 * before[i]));
    const auto scale_of_constant = [](const graph& g) {
        double scale = 0;
        for (const node& n : g.nodes()) {
            const auto* d = args_if<qd::dequantize_per_tensor>(n);
            if (d != nullptr && is<builtin::constant>(*d->input.producer)) scale = d->scale;
        }
        return scale;
    };
    CHECK(scale_of_constant(plain.g) > 0);
    CHECK(scale_of_constant(plain.g) == scale_of_constant(wide.g));
}

TEST_CASE("sixteen bits go where eight lose most") {
    const auto build = [](program& p) {  // two numbers that nearly cancel, and a small one added
        const value x = p.input(dtype::float32, {1, 16});
        p.g.set_name(x, "x");
        const auto scaled = [&](value v, float factor, const char* name) {
            const value y =
                p.make<aten::mul_tensor>({.self = v, .other = p.constant(dtype::float32, {1}, {factor})});
            p.g.set_name(y, name);
            return y;
        };
        const value large = scaled(x, 10.0F, "large");
        const value sine = p.make<aten::sin>({.self = scaled(x, 9.5F / 10, "less")});
        p.g.set_name(sine, "sine");
        const value difference =
            p.make<aten::sub_tensor>({.self = large, .other = scaled(sine, 10.0F, "almost")});
        p.g.set_name(difference, "difference");
        const value beside = p.make<aten::tanh>({.self = x});
        p.g.set_name(beside, "beside");
        const value sum =
            p.make<aten::add_tensor>({.self = difference, .other = scaled(beside, 0.001F, "small")});
        p.g.set_name(sum, "sum");
        p.output(sum);
    };
    program p;
    testing::builder{build}(p);
    const auto always = [] { return true; };
    // All as large as the others: clipping would hide the cost of rounding.
    const sample_source samples{8, [](std::size_t at) -> result<std::vector<tensor>> {
                                    reals numbers;
                                    for (std::size_t i = 0; i != 16; ++i)
                                        numbers.push_back(static_cast<double>((i * 7 + at) % 16) / 7.5 - 1);
                                    return std::vector{tensor::of(dtype::float32, {1, 16}, numbers)};
                                }};
    const auto mixed = mix_precision(p.g, {}, 0.8, samples, &infer_node, run_serially, always);
    REQUIRE(mixed.has_value());
    REQUIRE_FALSE(mixed.value().rules.empty());
    CHECK(mixed.value().rules.size() <= 7);  // of nine of the same size
    for (const quantization_rule& r : mixed.value().rules) CHECK(r.pattern != "small");
    CHECK(error_of(build, mixed.value()) < error_of(build, {}) / 3);
    const auto none = mix_precision(p.g, {}, 0, samples, &infer_node, run_serially, always);
    REQUIRE(none.has_value());
    CHECK(none.value().rules.empty());
}

TEST_CASE("a search keeps what gains, and stops when the time is over") {
    program p;
    testing::builder{unequal_chain}(p);
    const auto nodes = p.g.size();
    const auto found =
        search_quantization(p.g, {}, ramps(p.g, 8), &infer_node, run_serially, [] { return true; });
    REQUIRE(found.has_value());
    const quantization_search& search = found.value();
    CHECK(search.is_complete);
    CHECK(search.best.equalize);
    CHECK(p.g.size() == nodes);
    double best = search.trials.front().sqnr;
    for (const quantization_trial& t : search.trials) {
        if (t.is_taken) {
            CHECK(t.sqnr >= best);
            best = t.sqnr;
        } else {
            CHECK(t.sqnr <= best + 0.05);
        }
    }
    CHECK(best > search.trials.front().sqnr + 6);
    const auto none =
        search_quantization(p.g, {}, ramps(p.g, 8), &infer_node, run_serially, [] { return false; });
    REQUIRE(none.has_value());
    CHECK_FALSE(none.value().is_complete);
    CHECK(none.value().trials.size() == 1);
}

TEST_CASE("corrected biases take the mean error away") {
    // All weights of 4 bits are rounded down, which shifts the result.
    const auto layer = [](program& p) {
        const value x = p.input(dtype::float32, {1, 1, 4, 4});
        const value lifted =
            p.make<aten::add_tensor>({.self = x, .other = p.constant(dtype::float32, {1, 1, 1, 1}, {2.0F})});
        const value w = p.constant(dtype::float32, {1, 1, 2, 2}, {1.0F, 0.2F, 0.2F, 0.2F});
        const value b = p.constant(dtype::float32, {1}, {0.5F});
        p.output(p.make<aten::conv2d>({.input = lifted, .weight = w, .bias = b}));
    };
    quantization_config config;
    config.keep_branches = true;  // or the summand is part of the bias
    config.all.weight.lowest = -7;
    config.all.weight.highest = 7;
    const double plain = error_of(layer, config);
    config.correct_biases = true;
    CHECK(error_of(layer, config) < plain / 2);
}

TEST_CASE("the largest numbers are quantized where nobody asks for their places") {
    program p;
    const value x = p.input(dtype::float32, {2, 8});
    p.output(p.make_node<aten::max_dim>({.self = x, .dim = 1}).result());
    p.finish();
    quantize(p);
    CHECK(count_of<aten::max_dim>(p.g) == 0);
    CHECK(count_of<aten::amax>(p.g) == 1);
    CHECK(count_of<qd::quantize_per_tensor>(p.g) == 2);
}

TEST_CASE("time steps after the first have the same parameters, and all inputs the same products") {
    constexpr std::int64_t steps = 4, width = 3;
    program p;
    const auto ramp = [&](const int_list& shape) {
        return create_constant(p.g, {dtype::float32, shape, {}}, nullptr, [](std::span<std::byte> data) {
            for (std::size_t i = 0; i * sizeof(float) != data.size(); ++i) {
                const float number = static_cast<float>(i * 7 % 11) / 16 - 0.25F;
                std::memcpy(&data[i * sizeof number], &number, sizeof number);
            }
        });
    };
    const value weights[] = {ramp({3 * width, width}), ramp({3 * width, width})};
    const value x = p.input(dtype::float32, {1, steps, width});
    const value h = p.make<aten::zeros>({.size = {1, 1, width}});
    p.output(p.make_node<aten::gru_input>({.input = x,
                                              .hx = h,
                                              .params = list<value>(weights, 2),
                                              .has_biases = false,
                                              .num_layers = 1,
                                              .dropout = 0,
                                              .train = false,
                                              .bidirectional = false,
                                              .batch_first = true})
                 .result());
    p.finish();
    quantize(p);
    std::set<double> scales;
    std::size_t sigmoids = 0, products_of_inputs = 0, products_of_states = 0;
    for (const node& n : p.g.nodes()) {
        if (is<aten::sigmoid>(n)) {
            ++sigmoids;
            scales.insert(args_of<qd::quantize_per_tensor>(*n.first_use->target).scale);
        } else if (is<aten::linear>(n)) {
            ++(meta_of(n.operand(0))->shape[1] == steps ? products_of_inputs : products_of_states);
        }
    }
    CHECK(sigmoids == steps);
    CHECK(scales.size() == 2);
    CHECK(products_of_inputs == 2);
    CHECK(products_of_states == 2 * steps);
}
