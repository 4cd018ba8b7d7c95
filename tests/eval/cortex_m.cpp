// SPDX-License-Identifier: MIT
// Tests the kernels of the cortex_m dialect. The expected numbers are of the reference implementations in
// ExecuTorch's wheel (backends/cortex_m/ops/operators.py, passes/passes_utils.py), and of CMSIS-NN where a
// comment says that the device differs.
#include <catch2/catch.hpp>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <headrace/dialect/cortex_m.hpp>
#include <headrace/eval/cortex_m/requantize.hpp>
#include <headrace/eval/evaluator.hpp>
#include <headrace/ir/graph.hpp>

#include "kernel_test.hpp"

using namespace headrace;

namespace {

constexpr std::int64_t half = 1 << 30;  // 1/2 in Q31
constexpr std::int64_t lowest = -128;
constexpr std::int64_t highest = 127;

tensor bytes(eval::extents shape, const integers& codes) {
    return whole(dtype::int8, std::move(shape), codes);
}
/// Codes that differ by `step`, and wrap around in eight bits.
tensor wave(eval::extents shape, std::int64_t first, std::int64_t step) {
    integers codes;
    for (std::int64_t i = 0; i != eval::elements_in(shape); ++i)
        codes.push_back(static_cast<std::int8_t>(first + i * step));
    return bytes(std::move(shape), codes);
}
tensor words(const integers& numbers) {
    return whole(dtype::int32, {static_cast<std::int64_t>(numbers.size())}, numbers);
}

/// Runs one node with its inference rule, as a graph does.
struct node_test {
    graph g;
    std::map<const node*, tensor> inputs;
    value none = put(bytes({0}, {}));  // scratch memory

    value put(const tensor& t, list<std::int64_t> dim_order = {}) {
        node& n = g.create<builtin::placeholder>({});
        g.set_meta(n.result(), {t.type(), int_list(t.shape()), dim_order});
        inputs.emplace(&n, t);
        return n.result();
    }
    template <op_tag Op>
    result<std::vector<tensor>> run(const args<Op>& a) {
        const node& n = g.create(info_of<Op>, &a, 1);
        std::vector<tensor> operands;
        for (const edge& e : n.operand_edges()) operands.push_back(inputs.at(e.source));
        return evaluate_node(n, operands);
    }
    template <op_tag Op>
    integers codes(const args<Op>& a) {
        const auto results = run<Op>(a);
        if (!results) UNSCOPED_INFO(results.error().message);
        REQUIRE(results.has_value());
        return results.value()[0].template to<std::int64_t>();
    }
    /// Returns the message without the node's name; empty if the node is not refused.
    template <op_tag Op>
    std::string refusal(const args<Op>& a) {
        const auto results = run<Op>(a);
        if (results) return "";
        const std::string_view message = results.error().message;
        return std::string(message.substr(message.find("): ") + 3));
    }
};

}  // namespace

TEST_CASE("cortex_m: a factor rounds twice, halves up and then away from 0") {
    using eval::fixed_point_factor;
    const auto times = [](const integers& numbers, fixed_point_factor factor) {
        integers products;
        for (const std::int64_t x : numbers) products.push_back(factor.times(static_cast<std::int32_t>(x)));
        return products;
    };
    CHECK(times({1, -1, 3, -3}, {1 << 30, 0}) == integers{1, 0, 2, -1});
    CHECK(times({2, -2, 6, -6, 1, -1}, {1 << 30, -1}) == integers{1, -1, 2, -2, 1, 0});
    CHECK(times({1000, -1000, 123456, -123456}, {1518500250, -7}) == integers{6, -6, 682, -682});
    CHECK(times({5, -5}, {1518500250, 3}) == integers{28, -28});
    CHECK(times({INT32_MAX, INT32_MIN}, {INT32_MAX, -31}) == integers{1, -1});
    // The device shifts to the left in 32 bits; the reference in Python, in 64.
    CHECK(times({1 << 30, 3 << 29}, {1 << 30, 1}) == integers{INT32_MIN / 2, INT32_MIN / 4 * 3 + (1 << 30)});
}

TEST_CASE_METHOD(node_test, "cortex_m: quantization rounds halves to even and saturates") {
    using quantize = cortex_m::quantize_per_tensor;
    const value x = put(f32({8}, {0.25, 0.75, -0.25, 1000, -1000, infinity, -infinity, not_a_number}));
    CHECK(codes<quantize>({x, 0.5, 3, -128, 127, dtype::int8}) ==
        integers{3, 5, 3, 127, -128, 127, -128, 3});  // NaN: 0 in Python
    CHECK(
        codes<quantize>({x, 0.5, 3, -100, 100, dtype::int16}) == integers{3, 5, 3, 100, -100, 100, -100, 3});
    // The inverse of the scale in double, rounded to float, would give 120, as in Python.
    CHECK(codes<quantize>({put(f32({1}, {0.05974999815225601})), 0.0005, 0, -128, 127, dtype::int8}) ==
        integers{119});
    const auto refuse = [&](value input, std::int64_t low, std::int64_t high, dtype type) {
        return refusal<quantize>({input, 0.5, 3, low, high, type});
    };
    CHECK(refuse(put(bytes({1}, {0})), -128, 127, dtype::int8) == "input is int8, but must be float32");
    CHECK(refuse(x, 0, 255, dtype::uint8) == "dtype is uint8, but must be int8 or int16");
    CHECK(refuse(x, -129, 127, dtype::int8) == "quant_min is -129, but must be at least -128");
    CHECK(refuse(x, -128, 32768, dtype::int16).starts_with("quant_max is 32768, but must be "));
}

TEST_CASE_METHOD(node_test, "cortex_m: dequantization") {
    using dequantize = cortex_m::dequantize_per_tensor;
    const value x = put(bytes({3}, {-128, 3, 127}));
    const auto numbers = run<dequantize>({x, 0.5, 3, -128, 127, dtype::int8});
    REQUIRE(numbers.has_value());
    CHECK(numbers.value()[0].to<double>() == reals{-65.5, 0, 62});
    const value wide = put(whole(dtype::int16, {2}, {-32768, 32767}));
    const auto more = run<dequantize>({wide, 0.25, -1, -32768, 32767, dtype::int16});
    REQUIRE(more.has_value());
    CHECK(more.value()[0].to<double>() == reals{-8191.75, 8192});
    CHECK(refusal<dequantize>({wide, 0.5, 3, -128, 127, dtype::int8}) == "input is int16, but must be int8");
    CHECK(refusal<dequantize>({x, 0.5, 128, -128, 127, dtype::int8}) ==
        "zero_point is 128, but must be from -128 to 127");
}

TEST_CASE_METHOD(node_test, "cortex_m: sums of quantized values") {
    using add = cortex_m::quantized_add;
    const value a = put(bytes({6}, {10, -10, 127, -128, 5, -5}));
    const value b = put(bytes({6}, {20, 21, 127, -128, 6, -7}));
    CHECK(codes<add>({a, 0, half, 0, b, 0, half, 0, 0, half, -18, lowest, highest}) ==
        integers{30, 11, 127, -128, 11, -12});
    CHECK(codes<add>({a, 3, 1717986918, 0, b, -7, 1288490189, -1, 5, 1503238553, -18, -100, 100}) ==
        integers{43, -1, 100, -100, 20, -13});
    const value image = put(wave({1, 3, 2, 2}, -128, 23));
    const value channels = put(bytes({1, 3, 1, 1}, {100, -50, 7}));
    const integers sums{79, 102, 125, 127, -128, -106, -83, -60, 77, 100, 123, 127};
    CHECK(codes<add>({image, 1, half, 0, channels, -2, half, 1, 4, half, -18, lowest, highest}) == sums);
    CHECK(codes<add>({channels, -2, half, 1, image, 1, half, 0, 4, half, -18, lowest, highest}) == sums);

    const auto refuse = [&](value other, std::int64_t multiplier, std::int64_t shift) {
        return refusal<add>({a, 0, half, 0, other, 0, multiplier, shift, 0, half, 0, lowest, highest});
    };
    CHECK(refuse(put(words({1, 2, 3, 4, 5, 6})), half, 0) == "other is int32, but must be int8");
    CHECK(refuse(put(bytes({1}, {1})), half, 0) ==
        "self [6] and other [1] must have one shape, or one of them a number for each channel");
    CHECK(refuse(b, half * 2, 0) == "other_multiplier is 2147483648, which int32 does not hold");
    CHECK(refuse(b, half, 32) == "other_shift is 32, but must be from -31 to 31");
    CHECK(refuse(b, half, INT64_MIN).starts_with("other_shift is "));
}

TEST_CASE_METHOD(node_test, "cortex_m: products of quantized values") {
    using mul = cortex_m::quantized_mul;
    const value a = put(bytes({6}, {10, -10, 127, -128, 3, -3}));
    const value b = put(bytes({6}, {20, 21, 127, -128, 3, 3}));
    CHECK(codes<mul>({a, 0, b, 0, 0, half, -2}) == integers{25, -26, 127, 127, 1, -1});
    const value image = put(wave({1, 3, 2, 2}, -128, 23));
    const value channels = put(bytes({1, 3, 1, 1}, {100, -50, 7}));
    const integers products{-124, -101, -79, -56, 21, 11, 0, -11, 9, 11, 13, 15};
    CHECK(codes<mul>({image, 1, channels, -2, 4, 1340780792, -6}) == products);
    CHECK(codes<mul>({channels, -2, image, 1, 4, 1340780792, -6}) == products);
    CHECK(refusal<mul>({image, 0, put(bytes({1, 1, 2, 2}, {1, 2, 3, 4})), 0, 0, half, 0})
              .ends_with("or one of them a number for each channel"));
}

TEST_CASE_METHOD(node_test, "cortex_m: quotients of quantized values") {
    using div = cortex_m::quantized_div;
    const value a = put(bytes({6}, {5, -5, 7, 100, 1, 2}));
    const value b = put(bytes({6}, {3, 3, 3, 2, 1, 0}));
    CHECK(codes<div>({a, 0, b, 1, 10, 1.0}) ==  // Python rounds halves to even: 12, 8, 14
        integers{13, 7, 14, 110, 10, 8});
    CHECK(codes<div>({a, 0, b, 1, 0, 100.0}) == integers{127, -128, 127, 127, 0, -128});
    const value wide = put(whole(dtype::int16, {2}, {30000, -30000}));
    const value ones = put(whole(dtype::int16, {2}, {1, 1}));
    CHECK(codes<div>({wide, 0, ones, 0, 5, 2.0}) == integers{32767, -32768});
    CHECK(refusal<div>({wide, 0, a, 0, 0, 1.0}) == "other is int8, but must be int16");
    CHECK(refusal<div>({a, 0, put(bytes({1}, {1})), 0, 0, 1.0}) == "other [1] must have shape [6]");
    CHECK(refusal<div>({none, 0, put(f32({0}, {})), 0, 0, 1.0}) == "other is float32, but must be int8");
}

TEST_CASE_METHOD(node_test, "cortex_m: maximum and minimum broadcast where the device does") {
    const value a = put(bytes({2, 2}, {1, -5, 7, -128}));
    const value row = put(bytes({2}, {0, -6}));
    CHECK(codes<cortex_m::maximum>({a, row}) == integers{1, -5, 7, -6});
    CHECK(codes<cortex_m::minimum>({row, a}) == integers{0, -6, 0, -128});
    CHECK(codes<cortex_m::maximum>({a, put(bytes({1}, {3}))}) == integers{3, 3, 7, 3});
    // CMSIS-NN moves two elements of the first operand each row.
    CHECK(refusal<cortex_m::maximum>({put(wave({1, 2, 1, 1}, 1, 1)), put(wave({1, 2, 3, 1}, 0, 0))}) ==
        "the kernel does not broadcast one element for each row, [1, 2, 1, 1], to [1, 2, 3, 1]");
    CHECK(refusal<cortex_m::minimum>({a, put(words({1, 2}))}) == "other is int32, but must be int8");
    CHECK(refusal<cortex_m::minimum>({put(wave({1, 1, 1, 1, 1}, 0, 0)), a}) ==
        "self [1, 1, 1, 1, 1] must have rank 0 to 4");
}

TEST_CASE_METHOD(node_test, "cortex_m: activations by table") {
    const value x = put(bytes({4}, {-128, -1, 0, 127}));
    CHECK(codes<cortex_m::quantized_activation>({x, put(wave({256}, 5, 3))}) == integers{5, -126, -123, 2});
    CHECK(refusal<cortex_m::quantized_activation>({x, put(wave({255}, 0, 0))}) ==
        "lut [255] must have 256 elements");
    CHECK(
        refusal<cortex_m::quantized_activation>({put(words({1})), x}) == "input is int32, but must be int8");
}

TEST_CASE_METHOD(node_test, "cortex_m: softmax of quantized values") {
    using softmax = cortex_m::softmax;
    const value x = put(bytes({3, 4}, {10, 20, 30, 40, -128, 127, 0, 0, 5, 5, 5, 5}));
    CHECK(codes<softmax>({x, -1, 0, -128, half, 23, -255}) ==
        integers{-108, -91, -59, 2, -128, 127, -128, -128, -64, -64, -64, -64});
    CHECK(codes<softmax>({x, 1, 7, -128, half, 23, -20}) ==  // 10 is too far below 40; not in Python
        integers{-128, -88, -53, 13, -128, 127, -128, -128, -64, -64, -64, -64});
    CHECK(codes<softmax>({put(bytes({4}, {40, -51, -74, 7})), 0, 0, -128, 1279065441, 23, -255}) ==
        integers{107, -128, -128, -108});  // 108 in Python
    const auto refuse = [&](std::int64_t dim, std::int64_t zero_point, std::int64_t shift) {
        return refusal<softmax>({x, dim, 0, zero_point, half, shift, -255});
    };
    CHECK(refuse(0, -128, 23) == "dim is 0, but must be 1");
    CHECK(refuse(1, 0, 23) == "output_zero_point is 0, but must be -128");
    CHECK(refuse(1, -128, 32) == "input_shift is 32, but must be from -31 to 31");
    CHECK(refuse(1, -128, -1) == "input_shift is -1, but must be at least 0");
}

TEST_CASE_METHOD(node_test, "cortex_m: batched matrix products") {
    using matmul = cortex_m::quantized_batch_matmul;
    const value lhs = put(wave({2, 2, 3}, -70, 31));
    const value rhs = put(wave({2, 2, 3}, -128, 45));
    CHECK(codes<matmul>({lhs, 5, rhs, -9, 3, 1340780792, -7, none}) ==
        integers{62, -5, -63, 54, -18, -55, 29, 7});
    // The sum, 16842751, rounds to 128 steps; Python's reference adds up in float, which does not hold it.
    integers left(260, 127);
    integers right = left;
    left.back() = -99;
    right.back() = -84;
    CHECK(codes<matmul>({put(bytes({1, 1, 260}, left)), 128, put(bytes({1, 1, 260}, right)), 128, -100,
              INT32_MAX, -17, none}) == integers{28});
    CHECK(refusal<matmul>({lhs, 5, put(wave({2, 2, 4}, 0, 0)), -9, 3, half, 0, none}) ==
        "cannot multiply [2, 2, 3] by transposed [2, 2, 4]");
    CHECK(refusal<matmul>({lhs, 5, rhs, -9, 3, half, -32, none}).starts_with("output_shift is -32"));
}

TEST_CASE_METHOD(node_test, "cortex_m: linear layers have a bias or sums of their weights") {
    using linear = cortex_m::quantized_linear;
    const value x = put(wave({2, 4}, -70, 31));
    const value w = put(wave({3, 4}, -128, 45));
    const value bias = put(words({1000, -500, 20}));
    CHECK(codes<linear>({x, w, bias, {}, 7, 0, -4, {1340780792}, {-6}, 127, -128}) ==
        integers{113, -90, 36, -128, 41, -31});
    const integers offset{25, -26, 6, -51, 9, -9};
    CHECK(codes<linear>({x, w, bias, {}, 7, 3, -4, {1340780792}, {-8}, 60, -60}) == offset);
    const value sums = put(words({-610, -654, 1322}));
    CHECK(codes<linear>({x, w, {}, sums, 99, 3, -4, {1340780792}, {-8}, 60, -60}) == offset);
    const auto refuse = [&](value weights, std::optional<value> b, const int_list& multipliers) {
        return refusal<linear>({x, weights, b, {}, 7, 0, -4, multipliers, {-6}, 127, -128});
    };
    CHECK(refuse(put(wave({3, 5}, 0, 0)), bias, {half}) == "weights [3, 5] must have shape [3, 4]");
    CHECK(refuse(w, put(words({1})), {half}) == "bias [1] must have 3 elements");
    CHECK(refuse(w, put(bytes({3}, {1, 2, 3})), {half}) == "bias is int8, but must be int32");
    CHECK(refuse(w, bias, {}) == "requantize_multipliers and requantize_shifts must not be empty");
}

TEST_CASE_METHOD(node_test, "cortex_m: convolutions in both layouts") {
    const integers nhwc{-100, -20, -63, 17, -26, 54, 11, 91, 48, -128, 85, -91, 122, -54, -97, -17, -60, 20,
        -23, 57, 14, 94, 51, -125, 88, -88, 125, -51, -94, -14, -57, 23};
    const value x = put(wave({1, 2, 4, 4}, -100, 37));
    const value w = put(wave({3, 3, 3, 2}, -90, 53));
    const value bias = put(words({100, -2000, 30000}));
    const value multipliers = put(words({1340780792, 1073741824, 2040109465}));
    const value shifts = put(words({-8, -9, -7}));
    using conv = cortex_m::quantized_conv2d;
    CHECK(codes<conv>(
              {x, w, bias, {2, 1}, {1, 1}, {1, 1}, 5, -3, multipliers, shifts, lowest, highest, none}) ==
        integers{-14, -56, -65, 4, -17, -30, -37, 21, -31, -19, 2, -13, -31, 17, 12, 7, 127, 127, 123, 56,
            127, -7, -128, 127});
    CHECK(codes<cortex_m::quantized_conv2d_nhwc>({put(bytes({1, 4, 4, 2}, nhwc)), w, bias, {2, 1}, {1, 1},
              {1, 1}, 5, -3, multipliers, shifts, lowest, highest, none}) ==
        integers{-14, -31, 127, -56, -19, 127, -65, 2, 123, 4, -13, 56, -17, -31, 127, -30, 17, -7, -37, 12,
            -128, 21, 7, 127});
    CHECK(codes<conv>({x, w, {}, {1, 1}, {2, 0}, {2, 1}, 5, -3, multipliers, shifts, -50, 60, none}) ==
        integers{-8, -50, -29, 60, -22, -23, 60, -50, 5, 12, 17, -28, -1, 23, -5, -18, 10, 60, -15, -50, 54,
            -50, -50, 51});
    const value grouped = put(wave({4, 1, 1, 1}, -90, 53));
    const value halves = put(words({half, half, half, half}));
    CHECK(codes<conv>({x, grouped, put(words({1, 2, 3, 4})), {2, 2}, {0, 0}, {1, 1}, -7, 2, halves,
              put(words({-7, -8, -6, -7})), lowest, highest, none}) ==
        integers{40, 14, 26, 0, 10, 4, 7, 1, -1, 8, 4, 13, -5, 15, 6, 25});

    args<conv> a{x, w, bias, {2, 1}, {1, 1}, {1, 1}, 5, -3, multipliers, shifts, lowest, highest, none};
    const auto refuse = [&](auto change) {
        args<conv> changed = a;
        change(changed);
        return refusal<conv>(changed);
    };
    CHECK(refuse([&](auto& c) { c.stride = {2}; }) == "stride has 1 element, but must have 2");
    CHECK(refuse([&](auto& c) { c.padding = {}; }) == "padding has 0 elements, but must have 2");
    CHECK(refuse([&](auto& c) { c.stride = {0, 1}; }) == "kernel, stride and dilation must be positive");
    CHECK(refuse([&](auto& c) { c.padding = {-1, 0}; }) == "padding must not be negative");
    CHECK(refuse([&](auto& c) { c.bias = put(words({1})); }) == "bias [1] must have 3 elements");
    CHECK(refuse([&](auto& c) { c.requantize_shifts = put(words({1})); }) ==
        "requantize_shifts [1] must have 3 elements");
    CHECK(refuse([&](auto& c) {
        c.requantize_shifts = put(words({0, -32, 0}));
    }) == "requantize_shifts has -32, but must be from -31 to 31");
    CHECK(refuse([&](auto& c) {
        c.requantize_multipliers = put(bytes({3}, {1, 2, 3}));
    }) == "requantize_multipliers is int8, but must be int32");
    CHECK(refuse([&](auto& c) {
        c.weight = put(wave({3, 3, 3, 4}, 0, 0));
    }) == "weight [3, 3, 3, 4] does not divide 2 input channels and its own result channels into groups");
    CHECK(refuse([&](auto& c) { c.weight = put(wave({3, 3, 3, 1}, 0, 0)); }).ends_with("into groups"));
    CHECK(refuse([&](auto& c) {
        c.input = put(wave({2, 4, 4}, 0, 0));
    }) == "input [2, 4, 4] must have rank 4");
    CHECK(refuse([&](auto& c) {  // CMSIS-NN reads one from where none is
        c.weight = put(wave({4, 3, 3, 1}, 0, 0));
        c.bias = {};
        c.requantize_multipliers = halves;
        c.requantize_shifts = halves;
    }) == "the kernel of convolutions in groups needs a bias");
}

TEST_CASE_METHOD(node_test, "cortex_m: depthwise convolutions have results for each channel") {
    const integers nhwc{-100, -20, -63, 17, -26, 54, 11, 91, 48, -128, 85, -91, 122, -54, -97, -17, -60, 20,
        -23, 57, 14, 94, 51, -125, 88, -88, 125, -51, -94, -14, -57, 23};
    const value x = put(wave({1, 2, 4, 4}, -100, 37));
    const value w = put(wave({1, 3, 2, 4}, -128, 71));
    const value bias = put(words({1000, -1000, 500, 0}));
    const value multipliers = put(words({1340780792, 1073741824, 2040109465, 1503238553}));
    const value shifts = put(words({-8, -7, -9, -8}));
    using conv = cortex_m::quantized_depthwise_conv2d;
    CHECK(codes<conv>(
              {x, w, bias, {1, 2}, {1, 1}, {1, 1}, 2, 9, 1, multipliers, shifts, lowest, highest, none}) ==
        integers{15, 15, 3, 18, -5, 10, -2, -66, 22, 5, -12, -7, 6, 58, -22, -3, 29, 6, 17, -35, 6, 13, -12,
            -16, 22, 6, 13, -26, -15, -24, 13, 15, -6, -10, 5, 3, 14, -5, -29, 23, 44, 45, -36, -70, 30, 29,
            63, -36});
    CHECK(codes<cortex_m::quantized_depthwise_conv2d_nhwc>({put(bytes({1, 4, 4, 2}, nhwc)), w, bias, {1, 2},
              {1, 1}, {1, 1}, 2, 9, 1, multipliers, shifts, lowest, highest, none}) ==
        integers{15, 6, 22, 14, 15, 58, 6, -5, 3, -22, 13, -29, 18, -3, -26, 23, -5, 29, -15, 44, 10, 6, -24,
            45, -2, 17, 13, -36, -66, -35, 15, -70, 22, 6, -6, 30, 5, 13, -10, 29, -12, -12, 5, 63, -7, -16,
            3, -36});
    CHECK(codes<conv>({x, w, {}, {1, 1}, {0, 1}, {1, 3}, 2, 9, 1, multipliers, shifts, -20, 90, none}) ==
        integers{-8, 28, 2, -20, 2, -20, 24, 18, 10, -20, 10, 9, -20, 20, 6, 17, -20, -2, 22, 74, 22, -20, -1,
            -20});
    const auto refuse = [&](value input, std::int64_t depth_multiplier) {
        return refusal<conv>({input, w, bias, {1, 2}, {1, 1}, {1, 1}, depth_multiplier, 9, 1, multipliers,
            shifts, lowest, highest, none});
    };
    CHECK(refuse(put(wave({2, 2, 4, 4}, 0, 0)), 2) == "the batch size is 2, but must be 1");
    CHECK(refuse(x, 1) == "weight's size 3 is 4, but must be 2");
    CHECK(refuse(x, 0) == "depth_multiplier is 0, but must be at least 1");
}

TEST_CASE_METHOD(node_test, "cortex_m: transposed convolutions") {
    const value x = put(wave({1, 2, 2, 2}, -60, 29));
    const value w = put(wave({2, 3, 3, 2}, -90, 53));
    const value bias = put(words({50, -700}));
    const value multipliers = put(words({1340780792, 1073741824}));
    const value shifts = put(words({-7, -6}));
    using conv = cortex_m::quantized_transpose_conv2d;
    const args<conv> a{
        x, w, bias, {2, 2}, {1, 1}, {0, 0}, {1, 1}, 4, -6, multipliers, shifts, lowest, highest, none, none};
    CHECK(codes<conv>(a) ==
        integers{-64, 23, -70, 47, 3, -52, -77, -35, 73, 14, -114, 29, 14, 127, 47, 45, -77, -61});
    CHECK(codes<cortex_m::quantized_transpose_conv2d_nhwc>(
              {put(bytes({1, 2, 2, 2}, {-60, 56, -31, 85, -2, 114, 27, -113})), w, bias, {2, 2}, {1, 1},
                  {0, 0}, {1, 1}, 4, -6, multipliers, shifts, lowest, highest, none, none}) ==
        integers{-64, 14, 23, -114, -70, 29, 47, 14, 3, 127, -52, 47, -77, 45, -35, -77, 73, -61});
    const value square =
        put(bytes({2, 2, 2, 2}, {-90, -37, 16, 69, -28, 25, 78, -125, 96, -107, -54, -1, -98, -45, 8, 61}));
    CHECK(codes<conv>({x, square, {}, {2, 2}, {0, 0}, {0, 0}, {1, 1}, 4, -6, multipliers, shifts, -100, 100,
              none, none}) ==
        integers{8, 10, -10, 22, 9, -64, 9, -71, -28, 34, 0, -40, 8, -77, -24, 72, -98, 17, -100, 5, 16, 19,
            -17, 35, -100, -8, 100, -18, -49, 50, 9, -56});
    const auto refuse = [&](auto change) {
        args<conv> changed = a;
        change(changed);
        return refusal<conv>(changed);
    };
    CHECK(refuse([](auto& c) {
        c.dilation = {2, 1};
    }) == "the kernel of transposed convolutions has no dilation");
    CHECK(refuse([&](auto& c) {
        c.weight = put(wave({2, 3, 3, 1}, 0, 0));
    }) == "weight's size 3 is 1, but must be 2");
    // CMSIS-NN writes more rows than the result has, and reads past the rows of its buffer.
    CHECK(refuse([](auto& c) {
        c.stride = {3, 2};
    }) == "the kernel of transposed convolutions needs a weight as high as stride and padding");
    CHECK(refuse([](auto& c) {
        c.output_padding = {0, 2};
    }) == "the kernel of transposed convolutions needs less padding, or less output_padding");
    CHECK(refuse([](auto& c) {
        c.output_padding = {-1, 0};
    }) == "the kernel of transposed convolutions has no negative output_padding");
    CHECK(refuse([](auto& c) { c.padding = {9, 0}; }) == "the padding is larger than the result");
}

TEST_CASE_METHOD(node_test, "cortex_m: means over windows") {
    using pool = cortex_m::quantized_avg_pool2d;
    const value x = put(bytes({1, 2, 2, 4}, {1, 2, 3, 4, -1, -2, -3, -4, 5, 5, 6, 6, -5, -5, -6, -7}));
    // Python's reference rounds the last mean, -6.5, to -6; around a zero point of 1, also 1.5 to 1.
    const integers means{2, 4, -2, -4, 5, 6, -5, -7};
    CHECK(codes<pool>({x, {1, 2}, {1, 2}, {0, 0}, false, 0, half, -4, none}) == means);
    CHECK(codes<pool>({x, {1, 2}, {1, 2}, {0, 0}, false, 1, half, -4, none}) == means);
    // Padding does not count. Python's reference rounds the mean -1/2 to 0.
    CHECK(codes<pool>({x, {2, 3}, {1, 2}, {1, 1}, true, 0, half, -4, none}) ==
        integers{2, 3, 4, 0, 0, 0, -2, -3, -4, 5, 6, 6, 0, 0, -1, -5, -6, -7});
    const value nhwc = put(bytes({1, 2, 4, 2}, {1, 5, 2, 5, 3, 6, 4, 6, -1, -5, -2, -5, -3, -6, -4, -7}));
    CHECK(codes<cortex_m::quantized_avg_pool2d_nhwc>({nhwc, {1, 2}, {1, 2}, {0, 0}, false, 0, half, -4,
              none}) == integers{2, 5, 4, 6, -2, -5, -4, -7});
    CHECK(refusal<pool>({x, {1, 2}, {}, {0, 0}, false, 0, half, -4, none}) ==
        "stride has 0 elements, but must have 2");
    CHECK(refusal<pool>({x, {1, 2}, {1, 2}, {1, 0}, false, 0, half, -4, none}) ==
        "padding 1 must be less than kernel_size 1");
    CHECK(refusal<pool>({x, {3, 1}, {2, 1}, {0, 0}, true, 0, half, -4, none}) ==
        "a window of 3 does not fit in an axis padded to 2");
}

TEST_CASE_METHOD(node_test, "cortex_m: maxima over windows") {
    using pool = cortex_m::quantized_max_pool2d;
    const value x = put(bytes({1, 1, 3, 3}, {-128, 3, 90, -7, -100, 5, 12, -128, 127}));
    const args<pool> a{x, {2, 2}, {2, 2}, {1, 1}, {1, 1}, false, 4, 4, -90, 100};
    CHECK(codes<pool>(a) == integers{-90, 90, 12, 100});
    const value nhwc = put(bytes({1, 2, 2, 2}, {-128, 3, 90, -7, -100, 5, 12, -128}));
    CHECK(codes<cortex_m::quantized_max_pool2d_nhwc>(
              {nhwc, {2, 1}, {1, 1}, {0, 0}, {1, 1}, false, 4, 4, -128, 127}) == integers{-100, 5, 90, -7});
    const auto refuse = [&](auto change) {
        args<pool> changed = a;
        change(changed);
        return refusal<pool>(changed);
    };
    CHECK(refuse([](auto& p) { p.ceil_mode = true; }) == "the kernel of max pooling has no ceil_mode");
    CHECK(refuse([](auto& p) { p.dilation = {1, 2}; }) == "the kernel of max pooling has no dilation");
    CHECK(refuse([](auto& p) { p.output_zero_point = 5; }) == "output_zero_point is 5, but must be 4");
    CHECK(refuse([](auto& p) { p.input_zero_point = 128; }).starts_with("input_zero_point is 128"));
    CHECK(refuse([](auto& p) { p.activation_max = -91; }) ==
        "activation_max is -91, but must be from -90 to 2147483647");
    CHECK(refuse([](auto& p) { p.kernel_size = {1, 2}; }) == "padding 1 must be less than kernel_size 1");
    CHECK(refuse([&](auto& p) {
        p.input = put(wave({1, 1, 0, 3}, 0, 0));
    }).starts_with("input [1, 1, 0, 3]"));
}

TEST_CASE_METHOD(node_test, "cortex_m: padding is in the order of memory") {
    const value x = put(bytes({1, 2, 1, 2}, {1, 2, 3, 4}));
    const int_list before{0, 0, 1, 0};
    const int_list after{0, 0, 0, 1};
    CHECK(
        codes<cortex_m::pad>({x, before, after, -9}) == integers{-9, -9, -9, 1, 2, -9, -9, -9, -9, 3, 4, -9});
    constexpr std::int64_t order[]{0, 2, 3, 1};
    const value last = put(bytes({1, 2, 1, 2}, {1, 2, 3, 4}), list<std::int64_t>(order));
    CHECK(codes<cortex_m::pad>({last, before, after, -9}) ==  // one column before, one channel after
        integers{-9, 1, 2, -9, 3, 4, -9, -9, -9});
    const value one_channel = put(bytes({1, 1, 1, 2}, {1, 2}));  // in either order
    CHECK(codes<cortex_m::pad>({one_channel, {0, 1, 0, 0}, {0, 0, 1, 0}, 7}) == integers{7, 7, 7, 1, 2, 7});
    CHECK(codes<cortex_m::pad>({put(bytes({2}, {1, 2})), {0, 0, 0, 1}, {0, 0, 0, 2}, 0}) ==
        integers{0, 1, 2, 0, 0});
    CHECK(codes<cortex_m::pad>({put(bytes({0}, {})), {0, 0, 0, 1}, {0, 0, 0, 1}, 300}) == integers{44, 44});
    CHECK(refusal<cortex_m::pad>({x, {0, 0, -1, 0}, after, 0}) ==
        "padding [0, 0, -1, 0] and [0, 0, 0, 1] does not fit [1, 2, 1, 2]");
    CHECK(refusal<cortex_m::pad>({x, {1, 0}, after, 0}) == "pre_pad has 2 elements, but must have 4");
    CHECK(refusal<cortex_m::pad>({put(bytes({1}, {1})), before, after, 0}).ends_with("does not fit [1]"));
    CHECK(refusal<cortex_m::pad>({put(wave({1, 1, 1, 1, 1}, 0, 0)), before, after, 0}) ==
        "input [1, 1, 1, 1, 1] must have rank 1 to 4");
    CHECK(refusal<cortex_m::pad>({x, {0, 0, 0, INT64_MAX}, {0, 0, 0, INT64_MAX}, 0}) != "");
}

TEST_CASE_METHOD(node_test, "cortex_m: axes in another order") {
    using transpose = cortex_m::transpose;
    CHECK(codes<transpose>({put(wave({1, 2, 3, 1}, 0, 1)), {0, 2, 1, 3}}) == integers{0, 3, 1, 4, 2, 5});
    CHECK(codes<transpose>({put(wave({2, 1, 3}, 0, 1)), {2, 1, 0}}) == integers{0, 3, 1, 4, 2, 5});
    const value matrix = put(wave({2, 3}, 0, 1));
    CHECK(codes<transpose>({matrix, {1, 0}}) == integers{0, 3, 1, 4, 2, 5});
    CHECK(codes<transpose>({matrix, {0, 1}}) == integers{0, 3, 1, 4, 2, 5});  // not in Python
    CHECK(codes<transpose>({put(wave({2}, 0, 1)), {0}}) == integers{0, 1});
    CHECK(refusal<transpose>({put(wave({2, 1, 3}, 0, 1)), {0, 1, -1}}) == "an axis of perm is negative");
    CHECK(refusal<transpose>({matrix, {0, 0}}) != "");
    CHECK(refusal<transpose>({put(words({1})), {0}}) == "input is int32, but must be int8");
    CHECK(refusal<transpose>({put(wave({1, 1, 1, 1, 1}, 0, 0)), {0, 1, 2, 3, 4}}) ==
        "input [1, 1, 1, 1, 1] must have rank 1 to 4");
}
