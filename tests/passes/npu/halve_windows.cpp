// SPDX-License-Identifier: MIT
// Tests that windows after the first convolution of an image are computed in halves, bit for bit.
#include <catch2/catch.hpp>

#include <headrace/passes/npu/first_layers.hpp>

#include "../../support/npu_test.hpp"

using namespace headrace;

namespace {

static_assert(effects_of<halve_windows>::sound);

/// The first layers of a network. The image is computed by an elementwise op, and reshaped, or given.
struct beginning {
    // Without a pooling, a DEPTHWISE_CONV2D takes its place.
    bool is_pooled = true;
    std::int64_t dilation = 1, multiplier = 1;
    std::int64_t height = 192, width = 192, channels = 3, results = 20, window = 3;
    bool is_given = false, is_in_groups = false, is_cropped = false, is_clamped = true, is_read_twice = false;
    bool is_tabulated = false;  // instead of the CLAMPs
    int_list kernel{3, 3}, stride{2, 2}, pad{1, 0, 1, 0};
    std::int64_t input_zero = 5, output_zero = -7, shift = 38;
};
value looked_up(program& p, value v) {
    std::vector<std::int64_t> entries;
    for (std::int64_t i = 0; i != 256; ++i) entries.push_back((i * 37) % 251 - 125);
    return p.make<tosa::table>({.input1 = v, .table = integer_constant(p, dtype::int8, {256}, entries)});
}
value depthwise(program& p, value v, const beginning& b) {
    const std::int64_t results = b.results * b.multiplier;
    const std::vector<std::int64_t> biases(static_cast<std::size_t>(results), 77);
    const value sums = p.make<tosa::depthwise_conv2d>({.input = v,
        .weight = constant_codes(p, weight_codes(1), {b.kernel[0], b.kernel[1], b.results, b.multiplier}),
        .bias = integer_constant(p, dtype::int32, {results}, biases),
        .input_zp = integer_constant(p, dtype::int8, {1}, {b.output_zero}),
        .weight_zp = integer_constant(p, dtype::int8, {1}, {0}),
        .pad = b.pad,
        .stride = b.stride,
        .dilation = {b.dilation, b.dilation},
        .acc_type = dtype::int32});
    const value narrowed = rescaled_by(p, sums, {.shift = 37, .output_zero = 4, .to = dtype::int8});
    if (b.is_tabulated) return looked_up(p, narrowed);
    return p.make<tosa::clamp>({.input = narrowed, .min_val = -70, .max_val = 99});
}
npu_builder pooled(const beginning& b) {
    return for_target(u85_npu, [=](program& p) {
        value image = p.input(dtype::int8, {1, b.height, b.width, b.channels});
        if (!b.is_given) image = p.make<tosa::clamp>({.input = image, .min_val = -100, .max_val = 100});
        if (!b.is_given && !b.is_in_groups) {
            const value shape = p.make<tosa::const_shape>({.values = meta_of(image)->shape});
            image = p.make<tosa::reshape>({.input1 = image, .shape = shape});
        }
        std::int64_t height = b.height, width = b.width;
        if (b.is_cropped) {
            image = p.make<tosa::slice>({.input1 = image,
                .start = p.make<tosa::const_shape>({.values = {0, 1, 0, 0}}),
                .size = p.make<tosa::const_shape>({.values = {1, --height, --width, b.channels}})});
        }
        // The window ends at the last row and column.
        const std::int64_t after = b.is_cropped ? b.window / 2 : b.window / 2 - 1;
        const value sums = convolved_by(p, image,
            {.image = {1, height, width, b.channels},
                .weight = {b.results, b.window, b.window, b.channels},
                .pad = {b.window / 2, after, b.window / 2, after},
                .stride = {2, 2},
                .input_zero = b.input_zero});
        value v = rescaled_by(p, sums, {.shift = b.shift, .output_zero = b.output_zero, .to = dtype::int8});
        if (b.is_tabulated) v = looked_up(p, v);
        if (b.is_clamped && !b.is_tabulated)
            v = p.make<tosa::clamp>({.input = v, .min_val = -90, .max_val = 110});
        if (b.is_read_twice) p.output(v);
        if (!b.is_pooled) return depthwise(p, v, b);
        return p.make<tosa::max_pool2d>({.input = v, .kernel = b.kernel, .stride = b.stride, .pad = b.pad});
    });
}

}  // namespace

TEST_CASE("poolings of any window behind a first layer") {
    for (const beginning& b :
        {beginning{}, beginning{.is_clamped = false, .pad = {0, 1, 0, 1}}, beginning{.is_given = true},
            beginning{.is_given = true, .is_cropped = true, .is_clamped = false},
            beginning{.height = 200,
            .width = 200,
            .channels = 2,
            .results = 24,
            .kernel = {2, 2},
            .pad = {0, 0, 0, 0}},
            beginning{.kernel = {4, 3}, .stride = {1, 1}, .pad = {2, 1, 0, 0}, .input_zero = -128}}) {
        const npu_builder build = pooled(b);
        CHECK_THAT(build, computes_the_same<halve_windows>().within(0));
        CHECK(count_after<tosa::max_pool2d, halve_windows>(build) == (b.is_given ? 3U : 2U));
    }
}

TEST_CASE("depthwise convolutions of any window behind a first layer") {
    for (const beginning& b : {beginning{.stride = {1, 1}, .pad = {1, 1, 1, 1}}, beginning{.is_given = true},
             beginning{.is_tabulated = true}, beginning{.is_given = true, .is_tabulated = true},
             beginning{.dilation = 2, .multiplier = 2, .stride = {1, 2}, .pad = {2, 0, 2, 1}}}) {
        beginning deep = b;
        deep.is_pooled = false;
        const npu_builder build = pooled(deep);
        CHECK_THAT(build, computes_the_same<halve_windows>().within(0));
        CHECK(count_after<tosa::depthwise_conv2d, halve_windows>(build) == 2);
    }
}

TEST_CASE("first layers of any size and scale") {
    for (unsigned seed = 0; seed != 4; ++seed) {
        random_numbers any(seed);
        INFO(seed);
        CHECK_THAT(pooled({.height = 16 * any(12, 13),
                       .width = 4 * any(48, 52),
                       .results = any(17, 32),
                       .is_given = any(0, 1) == 1,
                       .input_zero = any(-128, 127),
                       .output_zero = any(-128, 127),
                       .shift = any(36, 39)}),
            computes_the_same<halve_windows>().within(0));
    }
}

TEST_CASE("small and large images, many channels, other users and lines that make no bursts stay") {
    REQUIRE(count_after<tosa::max_pool2d, halve_windows>(pooled({})) == 2);
    for (const npu_builder& build :
        {pooled({.height = 32, .width = 32}), pooled({.height = 512, .width = 512, .results = 1}),
            pooled({.height = 128, .width = 128, .channels = 16}), pooled({.is_read_twice = true}),
            pooled({.is_in_groups = true}),
            pooled({.height = 190, .width = 190, .is_given = true, .pad = {0, 0, 0, 0}})}) {
        CHECK_THAT(build, is_left_alone_by<halve_windows>());
    }
}

TEST_CASE("it is for targets with little memory on the chip") {
    CHECK(runs_for<halve_windows>(u85_npu));
    CHECK_FALSE(runs_for<halve_windows>(u55_npu));
    CHECK_FALSE(runs_for<halve_windows>(integer_target));
}
