// SPDX-License-Identifier: MIT
// Tests the lowering to ExecuTorch's kernels: the program computes the same, with kernels only.

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <functional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/dialect/cortex_m.hpp>
#include <headrace/dialect/executorch.hpp>
#include <headrace/dialect/memory.hpp>
#include <headrace/infer/cortex_m.hpp>
#include <headrace/infer/memory.hpp>
#include <headrace/ir/listing.hpp>
#include <headrace/lowering/executorch_pipeline.hpp>
#include <headrace/run/execution.hpp>

#include "../support/program.hpp"

using namespace headrace;

namespace {

struct outcome {
    std::vector<std::string> ops{};  // without constants
    std::pmr::string difference{};
    pmr_vector<diagnostic> refusals{};
};

// Lowers the program of `build`, and compares its results before and after.
outcome lower(const std::function<void(testing::program&)>& build) {
    testing::program p;
    build(p);
    p.finish();
    REQUIRE(p.fault.empty());
    std::mt19937 random(1);
    std::vector<tensor> inputs;
    for (const node& n : p.g.inputs()) inputs.push_back(random_tensor(random, *n.results[0].meta));
    const auto expected = execute(p.g, inputs);
    REQUIRE(expected);
    pass_context context(standard_functions);
    REQUIRE(run_executorch_pipeline(p.g, context));
    outcome o;
    o.refusals = context.diagnostics();
    if (!o.refusals.empty()) return o;
    for (const node& n : p.g.nodes()) {
        if (!is_of_dialect<builtin::dialect>(n)) o.ops.emplace_back(n.op->name);
    }
    const auto got = execute(p.g, inputs);
    REQUIRE(got);
    for (std::size_t i = 0; i != expected.value().size() && o.difference.empty(); ++i)
        o.difference = tensor_difference(got.value()[i], expected.value()[i], 1e-5);
    return o;
}

using names = std::vector<std::string>;

}  // namespace

TEST_CASE("executorch: an op with a kernel is not taken apart", "[executorch]") {
    const outcome o = lower([](testing::program& p) {
        const value x = p.input(dtype::float32, {2, 4});
        const value w = p.constant<float>(dtype::float32, {3, 4}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
        const value y = p.make<aten::linear>({.input = x, .weight = w});
        const value z = p.make<aten::softmax_int>({.self = y, .dim = -1});
        p.output(p.make<aten::gelu>({.self = p.make<aten::view>({z, {6}})}));
    });
    CHECK(o.difference.empty());
    CHECK(o.ops == names{"aten::linear.out", "aten::_softmax.out", "executorch.reshape", "aten::gelu.out"});
}

TEST_CASE("executorch: an op without one is decomposed", "[executorch]") {
    const outcome o = lower([](testing::program& p) {
        const value x = p.input(dtype::float32, {2, 3, 4});
        const value y = p.input(dtype::float32, {2, 4, 3});
        p.output(p.make<aten::silu>({.self = p.make<aten::matmul>({x, y})}));
    });
    CHECK(o.difference.empty());
    CHECK(o.ops == names{"aten::bmm.out", "executorch.reshape", "aten::sigmoid.out", "aten::mul.out"});
}

TEST_CASE("executorch: composite ops are spelled in core ops", "[executorch]") {
    const outcome o = lower([](testing::program& p) {
        const value x = p.input(dtype::float32, {1, 4, 6, 6});
        const value normal = p.make<aten::group_norm>({.input = x, .num_groups = 2});
        const value pooled = p.make<aten::max_pool2d>({.self = normal, .kernel_size = {2, 2}});
        node& halves = p.make_node<aten::chunk>({.self = pooled, .chunks = 2, .dim = 1});
        p.output(p.make<aten::layer_norm>({.input = halves.result(0), .normalized_shape = {3, 3}}));
        p.output(p.make<aten::upsample_nearest2d>({.self = halves.result(1), .output_size = {6, 6}}));
    });
    CHECK(o.difference.empty());
    CHECK(o.ops.size() == 11);  // five of them are for NaN in the pooling
}

TEST_CASE("executorch: one index writes as a list of one", "[executorch]") {
    const outcome o = lower([](testing::program& p) {
        const value at = p.constant<std::int64_t>(dtype::int64, {}, {1});
        const value x = p.input(dtype::float32, {3, 2});
        p.output(p.make<aten::index_copy>({x, 0, at, p.input(dtype::float32, {1, 2})}));
        const value truths = p.input(dtype::boolean, {3, 2});
        p.output(p.make<aten::index_add>({truths, 0, at, p.input(dtype::boolean, {1, 2}), 2}));
    });
    CHECK(o.refusals.empty());
    CHECK(o.difference.empty());
}

TEST_CASE("executorch: resizing by scales that do not give the sizes is refused", "[executorch]") {
    const auto row = [](std::int64_t size, double scale) {
        return lower([=](testing::program& p) {
            const value x = p.input(dtype::float32, {1, 2, 4});
            p.output(p.make<aten::upsample_nearest1d>({.self = x, .output_size = {size}, .scales = scale}));
        });
    };
    const auto image = [](std::int64_t size, double scale) {
        return lower([=](testing::program& p) {
            const value x = p.input(dtype::float32, {1, 2, 4, 3});
            p.output(p.make<aten::upsample_bilinear2d>(
                {.self = x, .output_size = {size, 3}, .align_corners = false, .scales_h = scale}));
        });
    };
    for (const auto& resized : {std::function<outcome(std::int64_t, double)>(row), {image}}) {
        CHECK(resized(10, 2.6).difference.empty());
        // These do not count.
        CHECK(resized(10, 0).difference.empty());
        CHECK(resized(4, 0.5).difference.empty());
        REQUIRE(!resized(10, 0.5).refusals.empty());
        CHECK(resized(10, 0.5).refusals[0].reason.find("sizes or scales") != std::pmr::string::npos);
    }
}

TEST_CASE("executorch: what may be infinite is clamped before it is quantized", "[executorch]") {
    const auto quantized = [](testing::program& p, value x) {
        return p.make<quantized_decomposed::quantize_per_tensor>({x, 0.5, 3, -128, 127, dtype::int8});
    };
    const outcome o = lower([&](testing::program& p) {
        const value x = p.input(dtype::float32, {4});
        p.output(quantized(p, p.make<aten::reciprocal>({p.make<aten::relu>({x})})));
        p.output(quantized(p, x));
    });
    CHECK(o.difference.empty());
    CHECK(std::ranges::count(o.ops, "aten::clamp.out") == 1);
}

TEST_CASE("executorch: every node without a kernel is refused, with the reason", "[executorch]") {
    const outcome o = lower([](testing::program& p) {
        const value x = p.input(dtype::uint16, {4});
        p.output(p.make<aten::maximum>({x, x}));
        p.output(p.make<aten::minimum>({x, x}));
    });
    REQUIRE(!o.refusals.empty());
    CHECK(o.refusals[0].reason ==
        "ExecuTorch's kernel for it does not compute with uint16; cast its operands before it");
}

TEST_CASE("executorch: a convolution over three axes is a sum of convolutions over two", "[executorch]") {
    const auto convolved = [&](int_list stride, int_list padding, int_list dilation, std::int64_t groups) {
        return lower([&](testing::program& p) {
            const value x = p.input(dtype::float32, {2, 2 * groups, 7, 6, 5});
            const tensor_meta weight{dtype::float32, {4, 2, 3, 2, 2}, {}};
            const value w = create_constant(p.g, weight, nullptr, [](std::span<std::byte> data) {
                for (std::size_t i = 0; i * 4 != data.size(); ++i) {
                    const float number = static_cast<float>(i % 7) - 3;
                    std::memcpy(&data[4 * i], &number, 4);
                }
            });
            const value b = p.constant<float>(dtype::float32, {4}, {1, 2, 3, 4});
            p.output(p.make<aten::conv3d>({.input = x,
                .weight = w,
                .bias = b,
                .stride = stride,
                .padding = padding,
                .dilation = dilation,
                .groups = groups}));
        });
    };
    for (const outcome& o :
        {convolved({1, 1, 1}, {0, 0, 0}, {1, 1, 1}, 1), convolved({2, 1, 2}, {1, 0, 1}, {1, 1, 1}, 2),
            convolved({1, 2, 1}, {2, 1, 0}, {2, 1, 2}, 1), convolved({3, 3, 3}, {3, 1, 1}, {3, 1, 1}, 1)}) {
        CHECK(o.refusals.empty());
        CHECK(o.difference.empty());
        CHECK(std::ranges::count(o.ops, "aten::convolution.out") == 3);
    }
}

TEST_CASE("executorch: volumes are normalized, and convolved back", "[executorch]") {
    const outcome o = lower([](testing::program& p) {
        const value x = p.input(dtype::float32, {2, 2, 3, 4, 4});
        const value mean = p.constant<float>(dtype::float32, {2}, {1, -1});
        const value variance = p.constant<float>(dtype::float32, {2}, {2, 0.5});
        const value y = p.make<aten::batch_norm>({.input = x,
            .weight = mean,
            .bias = variance,
            .running_mean = mean,
            .running_var = variance,
            .training = false,
            .momentum = 0.1,
            .eps = 1e-5,
            .cudnn_enabled = false});
        const value w = p.constant<float>(
            dtype::float32, {2, 1, 2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 8, 7, 6, 5, 4, 3, 2, 1});
        p.output(p.make<aten::conv_transpose3d_input>(
            {.input = p.make<aten::relu>({.self = y}), .weight = w, .stride = {2, 2, 2}}));
    });
    CHECK(o.refusals.empty());
    CHECK(o.difference.empty());
}

TEST_CASE("executorch: kernels for Cortex-M keep a buffer each, right before them", "[executorch]") {
    const outcome o = lower([](testing::program& p) {
        const auto buffer = [&](std::int64_t bytes) {
            return p.make<memory::alloc>({.size = {bytes}, .dtype = dtype::uint8});
        };
        const value unused = buffer(8);
        const value none = buffer(0), equal = buffer(0), some = buffer(64);
        const value x = p.input(dtype::int8, {1, 2, 2, 1});
        const auto mean = [&](value v, value scratch) {
            return p.make<cortex_m::quantized_avg_pool2d_nhwc>({.input = v,
                .kernel_size = {2, 2},
                .stride = {1, 1},
                .padding = {0, 0},
                .ceil_mode = false,
                .zero_point = 0,
                .multiplier = 1 << 30,
                .shift = 1,
                .scratch = scratch});
        };
        const value row = p.constant<std::int8_t>(dtype::int8, {1, 2, 1, 2}, {3, -4, 5, 6});
        const value column = p.make<cortex_m::transpose>({row, {0, 1, 3, 2}});  // is computed beforehand
        const value a = mean(x, none), b = mean(x, equal), c = mean(column, some);
        p.output(p.make<aten::cat>({{a, b}, 3}));
        p.output(c);
        static_cast<void>(unused);
    });
    CHECK(o.difference.empty());
    CHECK(o.ops ==
        names{"memory.alloc", "cortex_m.quantized_avg_pool2d_nhwc.default", "memory.alloc",
            "cortex_m.quantized_avg_pool2d_nhwc.default", "aten::cat.out", "memory.alloc",
            "cortex_m.quantized_avg_pool2d_nhwc.default"});
}
