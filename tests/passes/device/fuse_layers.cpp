// SPDX-License-Identifier: MIT
// Tests that operators become layers, and that layers absorb adjacent elementwise operators.
#include <catch2/catch.hpp>

#include <headrace/passes/device/fuse_layers.hpp>
#include <headrace/passes/device/split_expansions.hpp>
#include <headrace/passes/fold/redundancies.hpp>

#include "../../support/pass_test.hpp"

using namespace headrace;

namespace {

static_assert(effects_of<fold_padding>::sound && effects_of<outline_layers>::sound &&
    effects_of<fuse_layers>::sound && effects_of<split_expansions>::sound);

value integers(program& p, dtype type, std::initializer_list<std::int64_t> shape, std::int64_t first) {
    return create_constant(p.g, {type, int_list(shape), {}}, nullptr, [&](std::span<std::byte> data) {
        std::int64_t n = first;
        const std::size_t width = traits_of(type).bits / 8U;
        for (std::size_t i = 0; i != data.size(); i += width, n = (n * 7 + 5) % 100)
            std::memcpy(data.data() + i, &n, width);
    });
}
value zero(program& p, dtype type) { return integers(p, type, {1}, 0); }

value convolution(program& p, value x, std::int64_t channels) {
    const std::int64_t from = meta_of(x)->shape[3];
    return p.make<tosa::conv2d>({.input = x,
        .weight = integers(p, dtype::int8, {channels, 1, 1, from}, 3),
        .bias = integers(p, dtype::int32, {channels}, 40),
        .input_zp = zero(p, dtype::int8),
        .weight_zp = zero(p, dtype::int8),
        .pad = {0, 0, 0, 0},
        .stride = {1, 1},
        .dilation = {1, 1},
        .acc_type = dtype::int32});
}
value rescaled(program& p, value x, dtype to) {
    return p.make<tosa::rescale>({.input = x,
        .multiplier = create_constant(p.g, {dtype::int32, {1}, {}}, nullptr,
            [](std::span<std::byte> data) {
                const std::int32_t m = 1 << 30;
                std::memcpy(data.data(), &m, 4);
            }),
        .shift = integers(p, dtype::int8, {1}, 34),
        .input_zp = zero(p, meta_of(x)->dtype),
        .output_zp = zero(p, to)});
}
// The dtype of a RESCALE is in its metadata.
value typed(program& p, value v, dtype type) {
    p.g.set_meta(v, {type, meta_of(v)->shape, {}});
    return v;
}
value narrow(program& p, value sum) { return typed(p, rescaled(p, sum, dtype::int8), dtype::int8); }

void residual(program& p) {
    const value x = p.input(dtype::int8, {1, 4, 4, 8});
    const value y = narrow(p, convolution(p, x, 8));
    const value wide_x = p.make<tosa::cast>({.input = x, .output_type = dtype::int32});
    const value wide_y = p.make<tosa::cast>({.input = y, .output_type = dtype::int32});
    p.output(narrow(p, p.make<tosa::add>({.input1 = wide_x, .input2 = wide_y})));
}

// Two convolutions end in a sum: neither of their results is stored as int32.
void two_branches(program& p) {
    const value x = p.input(dtype::int8, {1, 4, 4, 8});
    const value y = narrow(p, convolution(p, narrow(p, convolution(p, x, 3)), 8));
    const value z = narrow(p, convolution(p, x, 8));
    const value wide_y = p.make<tosa::cast>({.input = y, .output_type = dtype::int32});
    const value wide_z = p.make<tosa::cast>({.input = z, .output_type = dtype::int32});
    p.output(narrow(p, p.make<tosa::add>({.input1 = wide_y, .input2 = wide_z})));
}

value padded(program& p, value x, std::int64_t number) {
    return p.make<tosa::pad>({.input1 = x,
        .padding = p.make<tosa::const_shape>({.values = {0, 0, 1, 2, 0, 1, 0, 0}}),
        .pad_const = integers(p, dtype::int8, {1}, number)});
}
void padded_image(program& p) {
    p.output(narrow(p, convolution(p, padded(p, p.input(dtype::int8, {1, 4, 4, 3}), 0), 2)));
}
value depthwise(program& p, value x, std::int64_t stride);
void padded_depthwise(program& p) {
    p.output(narrow(p, depthwise(p, padded(p, p.input(dtype::int8, {1, 4, 4, 3}), 0), 1)));
}
void image_in_a_frame(program& p) {
    p.output(narrow(p, convolution(p, padded(p, p.input(dtype::int8, {1, 4, 4, 3}), 9), 2)));
}

void sum_of_functions(program& p) {
    const value x = p.input(dtype::int8, {3, 40});
    const value wide = p.make<tosa::cast>({.input = x, .output_type = dtype::int32});
    const value sum = p.make<tosa::reduce_sum>({.input = p.make<tosa::abs>({.input1 = wide}), .axis = 1});
    p.output(narrow(p, sum));
}

void shared_sum(program& p) {
    const value x = p.input(dtype::float32, {2, 5}), y = p.input(dtype::float32, {2, 5});
    const value sum = p.make<tosa::add>({.input1 = x, .input2 = y});
    p.output(p.make<tosa::exp>({.input1 = sum}));
    p.output(p.make<tosa::tanh>({.input = sum}));
}

value depthwise(program& p, value x, std::int64_t stride) {
    const std::int64_t channels = meta_of(x)->shape[3];
    return p.make<tosa::depthwise_conv2d>({.input = x,
        .weight = integers(p, dtype::int8, {3, 3, channels, 1}, 7),
        .bias = integers(p, dtype::int32, {channels}, 40),
        .input_zp = zero(p, dtype::int8),
        .weight_zp = zero(p, dtype::int8),
        .pad = {1, stride == 2 ? 0 : 1, 1, stride == 2 ? 0 : 1},
        .stride = {stride, stride},
        .dilation = {1, 1},
        .acc_type = dtype::int32});
}
// An inverted residual; its wide tensor has 48 channels.
value widened(program& p, value x) { return narrow(p, convolution(p, x, 48)); }
void inverted_residual(program& p) {
    const value wide = widened(p, p.input(dtype::int8, {1, 8, 8, 8}));
    p.output(narrow(p, convolution(p, narrow(p, depthwise(p, wide, 2)), 8)));
}
// If the number of channels does not change, the result needs as much memory as the tensor in between.
void filter_in_place(program& p) {
    p.output(narrow(p, depthwise(p, widened(p, p.input(dtype::int8, {1, 8, 8, 48})), 1)));
}
void wide_tensor_read_twice(program& p) {
    const value wide = widened(p, p.input(dtype::int8, {1, 8, 8, 8}));
    p.output(narrow(p, depthwise(p, wide, 2)));
    p.output(wide);
}

std::size_t layers(void (&build)(program&)) {
    program p;
    const graph& g = lowered<outline_layers, fuse_layers>(p, build);
    std::size_t count = 0;
    for (const node& n : g.nodes()) count += n.op->dialect == &info_of_dialect<device::dialect>;
    return count;
}

}  // namespace

TEST_CASE("a residual sum is part of the convolution that ends its branch") {
    CHECK_THAT(residual, (computes_the_same<outline_layers, fuse_layers>()));
    CHECK(layers(residual) == 1);
    CHECK(count_after<device::convolution, outline_layers, fuse_layers>(residual) == 1);
}

TEST_CASE("a sum of two branches is part of the one that reads less, and what both store is narrow") {
    CHECK_THAT(two_branches, (computes_the_same<outline_layers, fuse_layers>()));
    program p;
    const graph& g = lowered<outline_layers, fuse_layers>(p, two_branches);
    std::size_t count = 0;
    for (const node& n : g.nodes()) {
        if (!is<device::convolution>(n)) continue;
        ++count;
        CHECK(n.results[0].meta->dtype == dtype::int8);
        const bool ends = is<builtin::output>(*n.first_use->target);
        if (ends) CHECK(meta_of(parts_of(n).inputs[0])->shape[3] == 3);
    }
    CHECK(count == 3);
}

TEST_CASE("padding with the zero point is a convolution's own") {
    CHECK_THAT(padded_image, computes_the_same<fold_padding>());
    CHECK(count_after<tosa::pad, fold_padding, remove_dead_code>(padded_image) == 0);
    CHECK_THAT(padded_depthwise, computes_the_same<fold_padding>());
    CHECK(count_after<tosa::pad, fold_padding, remove_dead_code>(padded_depthwise) == 0);
    CHECK_THAT(image_in_a_frame, (computes_the_same<may_rewrite<fold_padding>>()));
    CHECK(count_after<tosa::pad, fold_padding>(image_in_a_frame) == 1);
}

TEST_CASE("a reduction has what is element-wise before and behind it") {
    CHECK_THAT(sum_of_functions, (computes_the_same<outline_layers, fuse_layers>()));
    CHECK(layers(sum_of_functions) == 1);
    CHECK(count_after<device::reduction, outline_layers, fuse_layers>(sum_of_functions) == 1);
}

TEST_CASE("a tensor that two layers read is in memory") {
    CHECK_THAT(shared_sum, (computes_the_same<outline_layers, may_rewrite<fuse_layers>>()));
    CHECK(layers(shared_sum) == 3);
}

TEST_CASE("the wide tensor of an inverted residual is made by groups of channels") {
    CHECK_THAT(inverted_residual, (computes_the_same<outline_layers, fuse_layers, split_expansions>()));
    program p;
    const graph& g =
        lowered<outline_layers, fuse_layers, split_expansions, remove_dead_code>(p, inverted_residual);
    std::int64_t largest = 0;
    for (const node& n : g.nodes())
        if (is<device::convolution>(n)) largest = std::max(largest, n.results[0].meta->elements());
    CHECK(largest == 8 * 8 * 8);
    CHECK(count_of<tosa::concat>(g) == 1);
    CHECK(count_of<device::convolution>(g) == 6 + 6 + 1);
    const auto left_alone = [](const auto& build) {
        CHECK(count_after<tosa::concat, outline_layers, fuse_layers, split_expansions>(build) == 0);
    };
    left_alone(filter_in_place);
    left_alone(wide_tensor_read_twice);
}
