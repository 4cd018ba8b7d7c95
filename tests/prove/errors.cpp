// SPDX-License-Identifier: MIT
// Tests the bounds of rounding errors against executions with and without rounding.
#include "proven.hpp"

#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/quantized_decomposed.hpp>
#include <headrace/prove/error_bound.hpp>

using namespace headrace;
namespace qd = quantized_decomposed;

namespace {

value quantized(testing::program& p, value x, double scale, bool rounds) {
    if (!rounds) return x;
    const value q = p.make<qd::quantize_per_tensor>({x, scale, 0, -128, 127, dtype::int8});
    return p.make<qd::dequantize_per_tensor>({q, scale, 0, -128, 127, dtype::int8, {}});
}
// Two layers, a residual sum and a product.
void build(testing::program& p, bool rounds) {
    const value x = quantized(p, p.input(dtype::float32, {1, 3}), 0.02, rounds);
    const value w = p.constant<float>(dtype::float32, {2, 3}, {0.5F, -1.F, 0.25F, 1.F, 0.125F, -0.5F});
    const value b = p.constant<float>(dtype::float32, {2}, {0.1F, -0.2F});
    const value first = quantized(p, p.make<aten::relu>({p.make<aten::linear>({x, w, b})}), 0.05, rounds);
    const value v = p.constant<float>(dtype::float32, {2, 2}, {0.5F, -0.75F, 0.25F, 1.F});
    const value second = quantized(p, p.make<aten::linear>({first, v, {}}), 0.06, rounds);
    const value sum = quantized(p, p.make<aten::add_tensor>({first, second, scalar(1)}), 0.1, rounds);
    p.output(quantized(p, p.make<aten::sigmoid>({sum}), 0.0078125, rounds));
    p.output(quantized(p, p.make<aten::mul_tensor>({sum, second}), 0.5, rounds));
    p.finish();
}

}  // namespace

TEST_CASE("prove: rounding errors stay within their bounds") {
    testing::program with;
    testing::program without;
    build(with, true);
    build(without, false);
    const auto bounds = prove::rounding_errors(with.g);
    REQUIRE(bounds);
    REQUIRE(bounds.value().outputs.size() == 2);
    CHECK(bounds.value().layers.size() == 6);
    std::mt19937 random(3);
    std::uniform_real_distribution<double> any(-2.5, 2.5);
    for (int run = 0; run != 200; ++run) {
        const std::vector<double> numbers{any(random), any(random), any(random)};
        const tensor x = tensor::of(dtype::float32, {1, 3}, numbers);
        const auto a = run_graph(with.g, std::span(&x, 1));
        const auto b = run_graph(without.g, std::span(&x, 1));
        REQUIRE(a);
        REQUIRE(b);
        for (std::size_t i = 0; i != 2; ++i) {
            for (std::int64_t k = 0; k != 2; ++k)
                REQUIRE(std::abs(a.value()[i].real(k) - b.value()[i].real(k)) <=
                    bounds.value().outputs[i].error + 1e-5);
        }
    }
    CHECK(bounds.value().outputs[0].error < 0.1);
    CHECK(prove::error_text(bounds.value()).find("error of output 1: at most ") != std::string::npos);
}

TEST_CASE("prove: rounding errors of a float graph are refused") {
    testing::program p;
    build(p, false);
    CHECK(!prove::rounding_errors(p.g));
}
