// SPDX-License-Identifier: MIT
// Tests the sizes of buffers against the table in examples/docs/cortex_m.md.
#include <catch2/catch.hpp>

#include <headrace/passes/cortex_m/convolutions.hpp>
#include <headrace/passes/cortex_m/pooling.hpp>
#include <headrace/passes/cortex_m/products.hpp>

#include "../../support/kernel_runs.hpp"

using namespace headrace;
using kernel_test::buffers_of;

namespace {

using bytes = std::vector<std::int64_t>;

struct image_case {
    int_list image;   // (N, H, W, C)
    int_list kernel;  // (KH, KW)
    std::int64_t out;
    std::int64_t padding = 0;
    int_list stride{1, 1};
    std::int64_t dilation = 1;
};
value zeros(testing::program& p, dtype type, const int_list& shape) {
    return kernel_test::integers(
        p, type, shape, std::vector<std::int64_t>(static_cast<std::size_t>(element_count(shape)), 0));
}
value narrow(testing::program& p, value sum) {
    const std::int64_t channels = meta_of(sum)->shape.back();
    std::vector<double> factors{0.01};  // several, so that no convolution is a product of matrices
    while (std::cmp_less(factors.size(), channels)) factors.push_back(factors.back() * 0.9);
    return kernel_test::narrowed(p, sum, {factors});
}
template <class Op>
value convolved(testing::program& p, const image_case& c, const int_list& weight) {
    args<Op> a{};
    a.input = p.input(dtype::int8, c.image);
    a.weight = zeros(p, dtype::int8, weight);
    a.bias = zeros(p, dtype::int32, {c.out});
    a.input_zp = a.weight_zp = zeros(p, dtype::int8, {1});
    a.acc_type = dtype::int32;
    a.stride = c.stride;
    if constexpr (requires { a.pad; }) {
        a.pad = {c.padding, c.padding, c.padding, c.padding};
        a.dilation = {c.dilation, c.dilation};
    } else {
        a.out_pad = {0, 0, 0, 0};
    }
    return narrow(p, p.make<Op>(a));
}

/// Returns the buffers of a program on each kind of core, all of them in one list.
template <class Pass, class Build>
bytes on_cores(const Build& build) {
    bytes all;
    for (const target_spec& core : all_cores) {
        testing::program p;
        const graph& g = lowered<Pass>(p, [&](testing::program& q) {
            q.g.set_target(core);
            q.output(build(q));
        });
        for (const std::int64_t size : buffers_of(g)) all.push_back(size);
    }
    return all;
}
bytes dense(const image_case& c) {
    return on_cores<select_convolutions>([&](testing::program& p) {
        return convolved<tosa::conv2d>(p, c, {c.out, c.kernel[0], c.kernel[1], c.image[3]});
    });
}
bytes depthwise(const image_case& c) {
    return on_cores<select_convolutions>([&](testing::program& p) {
        return convolved<tosa::depthwise_conv2d>(
            p, c, {c.kernel[0], c.kernel[1], c.image[3], c.out / c.image[3]});
    });
}
bytes transposed(const image_case& c) {
    return on_cores<select_convolutions>([&](testing::program& p) {
        return convolved<tosa::transpose_conv2d>(p, c, {c.out, c.kernel[0], c.kernel[1], c.image[3]});
    });
}

}  // namespace

TEST_CASE("buffers of convolutions") {
    CHECK(dense({{1, 8, 8, 16}, {3, 3}, 4}) == bytes{576, 576, 576});
    CHECK(dense({{1, 8, 8, 3}, {3, 3}, 4, 1}) == bytes{112, 112, 128});
    CHECK(dense({{2, 8, 8, 3}, {2, 3}, 4, 0, {2, 1}}) == bytes{80, 80, 128});
    CHECK(dense({{1, 8, 8, 5}, {1, 1}, 4}) == bytes{0, 0, 0});
    CHECK(dense({{1, 7, 7, 5}, {1, 1}, 4, 0, {2, 2}}) == bytes{0, 0, 0});
    CHECK(dense({{1, 8, 8, 5}, {1, 1}, 4, 0, {1, 1}, 2}) == bytes{0, 0, 0});
}

TEST_CASE("a row has the buffer of a column") {
    CHECK(dense({{1, 1, 40, 4}, {1, 3}, 4}) == bytes{48, 48, 64});
    CHECK(dense({{1, 40, 1, 4}, {3, 1}, 4}) == bytes{48, 48, 64});
    CHECK(dense({{1, 1, 41, 1}, {1, 9}, 4, 0, {1, 4}}) == bytes{0, 0, 64 + 36});
    CHECK(dense({{3, 1, 41, 1}, {1, 9}, 4, 0, {1, 4}}) == bytes{48, 48, 64});
}

TEST_CASE("no convolution that CMSIS-NN computes densely is along a row") {
    for (const bool is_single : {true, false}) {
        testing::program p;
        const graph& g = lowered<select_convolutions>(p, [&](testing::program& q) {
            q.g.set_target(mve_core);
            const image_case c{{1, 1, 41, is_single ? 1 : 4}, {1, 9}, 4, 0, {1, 4}};
            q.output(convolved<tosa::conv2d>(q, c, {4, 1, 9, c.image[3]}));
        });
        for (const node& n : g.nodes()) {
            if (is_of_dialect<cortex_m::dialect>(n)) CHECK(meta_of(n.operand(0))->shape[2] == 1);
        }
    }
}

TEST_CASE("buffers of depthwise convolutions") {
    CHECK(depthwise({{1, 8, 8, 64}, {3, 3}, 64, 1}) == bytes{0, 0, 4464});
    CHECK(depthwise({{1, 8, 8, 64}, {3, 3}, 64, 0}) == bytes{0, 0, 4464});
    CHECK(depthwise({{1, 8, 8, 64}, {5, 5}, 64, 2}) == bytes{0, 3200, 12400});
    CHECK(depthwise({{1, 8, 8, 64}, {3, 3}, 64, 2}) == bytes{0, 1152, 4464});
    CHECK(depthwise({{1, 8, 8, 64}, {3, 3}, 64, 1, {1, 1}, 2}) == bytes{0, 0, 0});
    CHECK(depthwise({{1, 8, 8, 8}, {3, 3}, 16, 1}) == bytes{0, 0, 0});
    CHECK(depthwise({{1, 8, 8, 1}, {3, 3}, 8, 1}) == bytes{0, 0, 64 + 72});
    CHECK(depthwise({{1, 8, 8, 1}, {3, 3}, 8, 1, {1, 1}, 2}) == bytes{0, 0, 64 + 72});
    CHECK(depthwise({{1, 8, 8, 1}, {1, 1}, 8}) == bytes{0, 0, 8});
    CHECK(dense({{1, 8, 8, 1}, {3, 3}, 8, 1}) == bytes{0, 0, 64 + 72});
}

TEST_CASE("convolutions in groups have buffers for all channels") {
    CHECK(depthwise({{2, 8, 8, 6}, {3, 3}, 6, 1}) == bytes{224, 224, 256});
    CHECK(depthwise({{2, 8, 8, 6}, {1, 1}, 12}) == bytes{32, 32, 64});
}

TEST_CASE("buffers of transposed convolutions") {
    CHECK(transposed({{1, 4, 4, 20}, {3, 3}, 5, 0, {2, 2}}) == bytes{720, 900, 720, 900, 768, 900});
    CHECK(transposed({{1, 4, 4, 8}, {3, 3}, 5, 0, {2, 2}}) == bytes{540, 0, 540, 0, 540, 0});
    CHECK(transposed({{1, 4, 4, 20}, {3, 3}, 5, 0, {3, 2}}) == bytes{540, 0, 540, 0, 540, 0});
}

TEST_CASE("buffers of average poolings and of products of matrices") {
    const auto pooled = [](testing::program& p) {
        const value zero = zeros(p, dtype::int8, {1});
        return p.make<tosa::avg_pool2d>({.input = p.input(dtype::int8, {1, 8, 8, 64}),
            .input_zp = zero,
            .output_zp = zero,
            .kernel = {2, 2},
            .stride = {2, 2},
            .pad = {0, 0, 0, 0},
            .acc_type = dtype::int32});
    };
    CHECK(on_cores<select_pooling>(pooled) == bytes{0, 256, 0});
    const auto multiplied = [](testing::program& p) {
        const value zero = zeros(p, dtype::int8, {1});
        return kernel_test::narrowed(p,
            p.make<tosa::matmul>(
                {p.input(dtype::int8, {2, 3, 4}), p.input(dtype::int8, {2, 4, 5}), zero, zero, dtype::int32}),
            {{0.01}});
    };
    CHECK(on_cores<select_products>(multiplied) == bytes{0, 0, 20});
}
