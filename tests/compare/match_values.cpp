// SPDX-License-Identifier: MIT
// Tests headrace::match_values: layers of a graph without names are found by what they compute.

#include <catch2/catch.hpp>

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include <headrace/compare/match_values.hpp>
#include <headrace/run/execution.hpp>

#include "../support/program.hpp"

using namespace headrace;
using testing::program;

namespace {

std::vector<tensor> waves(const extents& shape) {
    std::vector<double> numbers;
    for (std::int64_t i = 0; i != eval::elements_in(shape); ++i)
        numbers.push_back(std::sin(static_cast<double>(3 * i)));
    return {tensor::of(dtype::float32, shape, numbers)};
}

using pairs = std::vector<std::pair<std::size_t, std::size_t>>;

pairs matched(const graph& a, const graph& b, std::vector<layer_match> known = {}) {
    const auto of_a = layer_values_of(a);
    const auto of_b = layer_values_of(b);
    const auto found = match_values(a, of_a, b, of_b, std::move(known), waves({2, 3, 4}));
    REQUIRE(found);
    pairs result;
    for (const layer_match m : found.value()) result.emplace_back(m.reference, m.other);
    return result;
}

// An activation, a product and an exponential; the second form has other axes, and more layers.
void reference(program& p) {
    const value x = p.input(dtype::float32, {2, 3, 4});
    const value y = p.make<aten::relu>({.self = x});
    const value z = p.make<aten::mul_tensor>({.self = y, .other = x});
    p.output(p.make<aten::exp>({.self = z}));
    p.finish();
}
void other(program& p) {
    const value x = p.input(dtype::float32, {2, 3, 4});
    const value moved = p.make<aten::permute>({.self = x, .dims = {0, 2, 1}});
    const value y = p.make<aten::relu>({.self = moved});
    const value unlike = p.make<aten::cos>({.self = moved});
    const value z = p.make<aten::mul_tensor>({.self = y, .other = moved});
    const value scaled = p.make<aten::add_tensor>({.self = z, .other = z});
    const value e = p.make<aten::exp>({.self = z});
    p.output(e);
    p.output(unlike);
    p.output(scaled);
    p.finish();
}

}  // namespace

TEST_CASE("match_values: layers match through scales and orders of axes", "[compare]") {
    program a;
    reference(a);
    program b;
    other(b);
    const pairs found = matched(a.g, b.g);
    // The inputs have the same axes; the sum of two products is as alike as the product.
    REQUIRE(found.size() == 4);
    CHECK(found[0] == std::pair<std::size_t, std::size_t>{0, 0});
    CHECK(found[1] == std::pair<std::size_t, std::size_t>{1, 1});
    CHECK((found[2].second == 3 || found[2].second == 4));
    CHECK(found[3] == std::pair<std::size_t, std::size_t>{3, 5});
}

TEST_CASE("match_values: known pairs are kept, and theirs are not paired again", "[compare]") {
    program a;
    reference(a);
    program b;
    other(b);
    const pairs found = matched(a.g, b.g, {{3, 2}, {0, 5}});
    REQUIRE(found.size() == 4);
    CHECK(found[0] == std::pair<std::size_t, std::size_t>{0, 5});
    CHECK(found[3] == std::pair<std::size_t, std::size_t>{3, 2});
}

TEST_CASE("match_values: a graph of kernels is one for ExecuTorch's runtime", "[compare]") {
    program a;
    reference(a);
    CHECK_FALSE(is_kernel_graph(a.g));
    CHECK_FALSE(has_integer_kernels(a.g));
}
