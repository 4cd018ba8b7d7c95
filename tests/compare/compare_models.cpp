// SPDX-License-Identifier: MIT
// Tests the comparison of two forms of a model: which layers match, and the figures for them.

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <headrace/compare/compare_models.hpp>
#include <headrace/compare/comparison_report.hpp>
#include <headrace/compare/layer_difference.hpp>
#include <headrace/quantization/quantize_graph.hpp>
#include <headrace/run/execution.hpp>

#include "../support/program.hpp"

using namespace headrace;
using testing::program;

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
using reals = std::vector<double>;

/// Returns ramps between -1 and 1 for an input of that shape.
sample_source ramps(const extents& shape, std::size_t count) {
    return {count, [shape](std::size_t s) -> result<std::vector<tensor>> {
                const std::int64_t size = eval::elements_in(shape);
                reals numbers;
                for (std::int64_t i = 0; i != size; ++i)
                    numbers.push_back(2.0 *
                            static_cast<double>((i * 37 + 5 * static_cast<std::int64_t>(s)) % size) /
                            static_cast<double>(size) -
                        1);
                return std::vector{tensor::of(dtype::float32, shape, numbers)};
            }};
}
const extents image{1, 2, 4, 4};

/// Builds a convolution, an activation, and a second convolution whose channels have very different scales.
void network(program& p) {
    const value x = p.input(dtype::float32, {1, 2, 4, 4});
    p.g.set_name(x, "x");
    const value w = p.constant(dtype::float32, {2, 2, 1, 1}, {1.0F, -0.5F, 0.25F, 1.0F});
    const value y = p.make<aten::conv2d>({.input = x, .weight = w});
    p.g.set_name(y, "first");
    const value r = p.make<aten::relu>({.self = y});
    p.g.set_name(r, "active");
    const value v = p.constant(dtype::float32, {2, 2, 1, 1}, {100.0F, 0.0F, 0.0F, 0.01F});
    const value z = p.make<aten::conv2d>({.input = r, .weight = v});
    p.g.set_name(z, "second");
    p.output(p.make<aten::sigmoid>({.self = z}));
    p.finish();
}

void quantize(graph& g) {
    pass_context context(standard_functions);
    REQUIRE(quantize_graph(g, context, {}, ramps(image, 4)));
    REQUIRE(context.diagnostics().empty());
}

const layer_comparison* find(const model_comparison& c, std::string_view name) {
    for (const layer_comparison& l : c.layers) {
        if (l.name == name) return &l;
    }
    return nullptr;
}

}  // namespace

TEST_CASE("compare_models: a model equals itself in every layer", "[compare]") {
    program p;
    network(p);
    const auto c = compare_models(p.g, p.g, {.samples = ramps(image, 3)});
    REQUIRE(c);
    CHECK(c.value().samples == 3);
    REQUIRE(c.value().layers.size() == 5);
    for (const layer_comparison& l : c.value().layers) {
        CHECK(l.sqnr == infinite);
        CHECK(l.own_sqnr == infinite);
        CHECK(l.largest_difference == 0);
        CHECK(l.cosine == Approx(1));
        CHECK(l.saturated == 0);
    }
    CHECK(c.value().layers.back().is_output);
    CHECK(find(c.value(), "active")->inputs == std::vector<std::size_t>{1});
}

TEST_CASE("compare_models: the layer that loses most is the one with badly scaled channels", "[compare]") {
    program real;
    network(real);
    program p;
    network(p);
    quantize(p.g);
    const auto c = compare_models(real.g, p.g, {.samples = ramps(image, 4)});
    REQUIRE(c);
    const auto order = sorted_layers(c.value(), comparison_order::difference);
    CHECK(c.value().layers[order.front()].name == "second");
    const layer_comparison* active = find(c.value(), "active");
    REQUIRE(active != nullptr);
    CHECK(active->sqnr > 30);
    CHECK(active->sqnr < 60);
    CHECK_FALSE(active->fitted);
    CHECK(active->shape == std::vector<std::int64_t>{1, 2, 4, 4});
    const auto json = nlohmann::json::parse(comparison_json(c.value(), comparison_order::own));
    CHECK(json.at("samples") == 4);
    const auto& layers = json.at("layers");
    REQUIRE(layers.size() == c.value().layers.size());
    const auto written = std::find_if(
        layers.begin(), layers.end(), [](const auto& layer) { return layer.at("name") == "active"; });
    REQUIRE(written != layers.end());
    CHECK(written->at("shape") == nlohmann::json{1, 2, 4, 4});
    CHECK(written->at("fitted") == false);
    // One line for each layer, and one for each of its inputs.
    std::size_t lines = 3;
    for (const layer_comparison& l : c.value().layers) lines += 1 + l.inputs.size();
    const std::string dot = comparison_dot(c.value());
    CHECK(static_cast<std::size_t>(std::count(dot.begin(), dot.end(), '\n')) == lines);
}

TEST_CASE("comparison_lines: the layers of a time step are one line, with the worst first", "[compare]") {
    model_comparison c;
    const auto add = [&](const char* name, double own) {
        layer_comparison& layer = c.layers.emplace_back();
        layer.name = name;
        layer.op = "aten.add.Tensor";
        layer.own_sqnr = own;
    };
    add("gru_l0_t1of2_add", 40);
    add("gru_l0_t1of2_mul", 20);
    add("gru_l0_t2of2_add", 50);
    add("linear", 30);
    const auto lines = comparison_lines(c, comparison_order::own);
    REQUIRE(lines.size() == 3);
    CHECK(lines[0].name == "gru_l0, step 1 of 2");
    CHECK(lines[0].layers == std::vector<std::size_t>{1, 0});
    CHECK(lines[1].name == "linear");
    CHECK(lines[2].name == "gru_l0, step 2 of 2");
    const auto json = nlohmann::json::parse(comparison_json(c, comparison_order::own));
    REQUIRE(json.at("steps").size() == 2);
    CHECK(json.at("steps")[0].at("worst") == "gru_l0_t1of2_mul");
    CHECK(json.at("steps")[0].at("layers") == 2);
}

TEST_CASE("compare_models: any number of threads says the same", "[compare]") {
    program real;
    network(real);
    program p;
    network(p);
    quantize(p.g);
    const auto backwards = [](std::size_t count, const std::function<void(std::size_t)>& work) {
        for (std::size_t i = count; i-- != 0;) work(i);
    };
    const auto one = compare_models(real.g, p.g, {.samples = ramps(image, 20)});
    const auto other = compare_models(real.g, p.g, {.samples = ramps(image, 20), .in_parallel = backwards});
    REQUIRE(one);
    REQUIRE(other);
    CHECK(comparison_json(one.value(), comparison_order::model) ==
        comparison_json(other.value(), comparison_order::model));
}

TEST_CASE("compare_models: layers match by structure where names differ", "[compare]") {
    program a;
    network(a);
    program b;
    network(b);
    for (node& n : b.g.nodes()) {
        if (n.result_count == 1) b.g.set_name(n.result(), "");
    }
    const auto c = compare_models(a.g, b.g, {.samples = ramps(image, 1)});
    REQUIRE(c);
    CHECK(c.value().layers.size() == 5);
    CHECK(find(c.value(), "second") != nullptr);
}

TEST_CASE("compare_models: slices in another order match by what they take", "[compare]") {
    const auto build = [](program& p, bool swapped) {
        const value x = p.input(dtype::float32, {1, 2, 4, 4});
        value parts[2];
        for (const int k : {swapped ? 1 : 0, swapped ? 0 : 1})
            parts[k] = p.make<aten::sigmoid>(
                {.self = p.make<aten::slice_tensor>({.self = x, .dim = 1, .start = k, .end = k + 1})});
        p.output(p.make<aten::add_tensor>({.self = parts[0], .other = parts[1]}));
        p.finish();
    };
    program a;
    build(a, false);
    program b;
    build(b, true);
    const auto c = compare_models(a.g, b.g, {.samples = ramps(image, 2)});
    REQUIRE(c);
    CHECK(c.value().layers.size() == 4);
    for (const layer_comparison& l : c.value().layers) CHECK(l.sqnr == infinite);
}

TEST_CASE("compare_models: models without a common layer are refused", "[compare]") {
    program a;
    network(a);
    program b;
    const value x = b.input(dtype::float32, {1, 2, 4, 4});
    const value part = b.make<aten::slice_tensor>({.self = x, .dim = 1, .start = 0, .end = 1});
    b.output(b.make<aten::cos>({.self = part}));
    b.finish();
    const auto c = compare_models(a.g, b.g, {.samples = ramps(image, 1)});
    REQUIRE_FALSE(c);
    CHECK(c.error().message == "the models have no layer in common; are they forms of the same one?");
}

TEST_CASE("compare_models: other inputs are refused with both shapes", "[compare]") {
    program a;
    network(a);
    program b;
    b.output(b.make<aten::cos>({.self = b.input(dtype::float32, {3})}));
    b.finish();
    const auto c = compare_models(a.g, b.g, {.samples = ramps(image, 1)});
    REQUIRE_FALSE(c);
    CHECK(c.error().message.find("[1, 2, 4, 4]") != std::string::npos);
}

TEST_CASE("possible_orders: axes may have moved where sizes say so", "[compare]") {
    using orders = std::vector<element_order>;
    const auto of = [](extents exported, extents lowered) { return possible_orders(exported, lowered); };
    CHECK(of({1, 8, 4, 5}, {1, 8, 4, 5}) == orders{{0, 1, 2}});
    CHECK(of({1, 8, 4, 5}, {1, 4, 5, 8}) == orders{{2, 0, 1}});
    CHECK(of({2, 3, 3}, {2, 3, 3}) == orders{{0, 1, 2}, {0, 2, 1}});
    CHECK(of({1, 8, 1, 1}, {1, 1, 1, 8}) == orders{{0}});
    CHECK(of({1, 8, 4, 4}, {1, 16, 8}) == orders{});
    CHECK(of({17, 48}, {1, 17, 1, 48}) == orders{{0, 1}});
    CHECK(of({1, 1}, {1}) == orders{{}});
    CHECK(of({2, 2, 2, 2, 2, 2}, {2, 2, 2, 2, 2, 2}).size() == 24);
}

TEST_CASE("elements_in_order: channels come back to the front", "[compare]") {
    const tensor t = tensor::of(dtype::int8, {1, 1, 3, 2}, std::vector<std::int64_t>{0, 10, 1, 11, 2, 12});
    CHECK(elements_in_order(t, {1, 0}) == reals{0, 1, 2, 10, 11, 12});
    CHECK(elements_in_order(t, {0, 1}) == reals{0, 10, 1, 11, 2, 12});
}

TEST_CASE("fit_sums: the line through points", "[compare]") {
    fit_sums fit;
    fit.add(reals{1.0, 1.5, 2.0, 2.5}, reals{0, 1, 2, 3});
    CHECK(fit.scale() == Approx(0.5));
    CHECK(fit.offset() == Approx(1.0));
    CHECK(fit.residual() == Approx(0).margin(1e-12));
    fit_sums constant;
    constant.add(reals{3, 3}, reals{7, 7});
    CHECK(constant.scale() == 0);
    CHECK(constant.offset() == Approx(3));
}

TEST_CASE("layer_sums: decibels, cosine, and numbers that integers cannot say", "[compare]") {
    layer_sums sums;
    sums.add(reals{1, 1, 1, 20}, reals{10, 10, 9, 127}, meaning_of(0.1, 0, -128, 127));
    CHECK(sums.signal == Approx(403));
    CHECK(sums.noise == Approx(0.01 + 7.3 * 7.3));
    CHECK(sums.largest == Approx(7.3));
    CHECK(sums.share_beyond() == 0.25);
    CHECK(decibels_of(0.001) == Approx(30));
    layer_sums undefined;
    undefined.add(reals{std::nan("")}, reals{0}, {});
    CHECK(undefined.noise_ratio() == infinite);
    CHECK(undefined.largest == infinite);
    layer_sums nothing;
    nothing.add(reals{0, 0}, reals{0, 0}, {});
    CHECK(nothing.noise_ratio() == 0);
    CHECK(nothing.cosine() == 1);
}

TEST_CASE("annotate_signature: a description of other inputs is refused", "[compare]") {
    program p;
    network(p);
    io_description io;
    CHECK_FALSE(annotate_signature(p.g, io));
    io.inputs.push_back({.name = "x", .dtype = dtype::int8, .shape = {1, 2, 4, 4}});
    CHECK_FALSE(annotate_signature(p.g, io));
    io.outputs.push_back({.name = "y", .dtype = dtype::int8, .shape = {1, 2, 4, 4}});
    CHECK(annotate_signature(p.g, io));
    io.inputs[0].shape = {1, 2, 4, 5};
    CHECK_FALSE(annotate_signature(p.g, io));
}
