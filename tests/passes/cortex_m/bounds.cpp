// SPDX-License-Identifier: MIT
// Tests that a CLAMP becomes the bounds of the kernel before it.
#include <catch2/catch.hpp>

#include <headrace/infer/memory.hpp>
#include <headrace/passes/cortex_m/bounds.hpp>
#include <headrace/passes/cortex_m/tables_merging.hpp>

#include "../../support/kernel_runs.hpp"

using namespace headrace;
using kernel_test::dice;
using testing::program;

namespace {

value constants(
    program& p, dice& d, dtype type, const int_list& shape, std::int64_t lowest, std::int64_t highest) {
    return kernel_test::random_integers(p, d, type, shape, lowest, highest);
}
value buffer(program& p, std::int64_t bytes) {
    return p.make<memory::alloc>({.size = {bytes}, .dtype = dtype::uint8});
}
// Arguments that all three convolutions have.
template <class Args>
Args convolution(program& p, dice& d, std::int64_t out) {
    Args a{};
    a.input = p.input(dtype::int8, {1, 3, 4, 3});
    a.bias = constants(p, d, dtype::int32, {out}, -100, 100);
    a.stride = a.dilation = {1, 1};
    a.padding = {0, 0};
    a.requantize_multipliers = constants(p, d, dtype::int32, {out}, 1 << 30, INT32_MAX);
    a.requantize_shifts = constants(p, d, dtype::int32, {out}, -8, -7);
    a.activation_min = -128;
    a.activation_max = 127;
    a.scratch = buffer(p, 112);
    return a;
}
value dense(program& p, dice& d) {
    auto a = convolution<cortex_m::quantized_conv2d_nhwc::args>(p, d, 2);
    a.weight = constants(p, d, dtype::int8, {2, 3, 3, 3}, -128, 127);
    return p.make<cortex_m::quantized_conv2d_nhwc>(a);
}
value depthwise(program& p, dice& d) {
    auto a = convolution<cortex_m::quantized_depthwise_conv2d_nhwc::args>(p, d, 3);
    a.weight = constants(p, d, dtype::int8, {1, 3, 3, 3}, -128, 127);
    a.depth_multiplier = 1;
    return p.make<cortex_m::quantized_depthwise_conv2d_nhwc>(a);
}
value transposed(program& p, dice& d) {
    auto a = convolution<cortex_m::quantized_transpose_conv2d_nhwc::args>(p, d, 2);
    a.weight = constants(p, d, dtype::int8, {2, 3, 3, 3}, -128, 127);
    a.output_padding = {0, 0};
    a.output_scratch = buffer(p, 0);
    return p.make<cortex_m::quantized_transpose_conv2d_nhwc>(a);
}
value linear(program& p, dice& d) {
    return p.make<cortex_m::quantized_linear>({.input = p.input(dtype::int8, {5, 4}),
        .weights = constants(p, d, dtype::int8, {3, 4}, -128, 127),
        .bias = constants(p, d, dtype::int32, {3}, -100, 100),
        .kernel_sum = std::nullopt,
        .input_offset = 3,
        .filter_offset = 0,
        .output_offset = -2,
        .requantize_multipliers = {1 << 30},
        .requantize_shifts = {-7},
        .activation_max = 127,
        .activation_min = -128});
}
value sum(program& p, dice&) {
    return p.make<cortex_m::quantized_add>({.self = p.input(dtype::int8, {2, 5}),
        .self_zero_point = 1,
        .self_multiplier = 1 << 30,
        .self_shift = 0,
        .other = p.input(dtype::int8, {2, 5}),
        .other_zero_point = 0,
        .other_multiplier = 1 << 30,
        .other_shift = 0,
        .output_zero_point = 2,
        .output_multiplier = 1 << 30,
        .output_shift = -18,
        .activation_min = -128,
        .activation_max = 127});
}
value pooled(program& p, dice&) {
    return p.make<cortex_m::quantized_max_pool2d_nhwc>({.input = p.input(dtype::int8, {1, 4, 4, 3}),
        .kernel_size = {2, 2},
        .stride = {2, 2},
        .padding = {0, 0},
        .dilation = {1, 1},
        .ceil_mode = false,
        .input_zero_point = 0,
        .output_zero_point = 0,
        .activation_min = -128,
        .activation_max = 127});
}
using kernel = value (*)(program&, dice&);
constexpr kernel kernels[] = {dense, depthwise, transposed, linear, sum, pooled};

value clamped(program& p, dice& d, value v) {
    const std::int64_t lowest = d.from(-128, 127);
    return p.make<tosa::clamp>(
        {.input = v, .min_val = scalar(lowest), .max_val = scalar(d.from(lowest, 127))});
}
value flat(program& p, value v) { return p.make<aten::view>({.self = v, .size = {meta_of(v)->elements()}}); }

}  // namespace

TEST_CASE("bounds of kernels, once or several times") {
    for (const kernel make : kernels) {
        const auto once = [=](program& p, dice& d) { return clamped(p, d, make(p, d)); };
        CHECK(becomes_kernels<clamp_in_kernels>(once, {.programs = 20}) == "");
        const auto repeated = [=](program& p, dice& d) {
            return clamped(p, d, clamped(p, d, clamped(p, d, make(p, d))));
        };
        CHECK(becomes_kernels<clamp_in_kernels>(repeated, {.programs = 20}) == "");
        const auto seen_as_vector = [=](program& p, dice& d) { return clamped(p, d, flat(p, make(p, d))); };
        CHECK(becomes_kernels<clamp_in_kernels>(seen_as_vector, {.programs = 20}) == "");
    }
}

TEST_CASE("a table that clamps is the bounds of any of these kernels") {
    for (const kernel make : kernels) {
        const auto tabulated = [=](program& p, dice& d) {
            const std::int64_t lowest = d.from(-100, 0), highest = d.from(1, 100);
            std::vector<std::int64_t> table;
            for (std::int64_t i = -128; i != 128; ++i) table.push_back(std::clamp(i, lowest, highest));
            return p.make<cortex_m::quantized_activation>(
                {.input = make(p, d), .lut = kernel_test::integers(p, dtype::int8, {256}, table)});
        };
        CHECK(becomes_kernels<merge_tables>(tabulated, {.programs = 5}) == "");
    }
}

TEST_CASE("a result that others read, too, keeps its bounds") {
    const auto shared = [](program& p) {
        dice d(3);
        const value v = sum(p, d);
        p.output(clamped(p, d, v));
        p.output(v);
    };
    CHECK_THAT(shared, is_left_alone_by<clamp_in_kernels>());
    const auto shared_before_view = [](program& p) {
        dice d(3);
        const value v = sum(p, d);
        p.output(clamped(p, d, flat(p, v)));
        p.output(v);
    };
    CHECK_THAT(shared_before_view, is_left_alone_by<clamp_in_kernels>());
    const auto of_nothing = [](program& p) {
        dice d(3);
        p.output(clamped(p, d, p.input(dtype::int8, {3})));
    };
    CHECK_THAT(of_nothing, is_left_alone_by<clamp_in_kernels>());
}
