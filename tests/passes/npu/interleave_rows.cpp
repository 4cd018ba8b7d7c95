// SPDX-License-Identifier: MIT
// Tests that transposed convolutions become a convolution for each row within the stride, bit for bit.
#include <catch2/catch.hpp>

#include <headrace/passes/npu/transposed_convolutions.hpp>

#include "../../support/npu_test.hpp"

using namespace headrace;

namespace {

static_assert(effects_of<interleave_rows>::sound);

struct spreading_of {
    int_list image, weight, out_pad, stride;
    std::int64_t input_zero = 5, weight_zero = -3;
};
value spread_by(program& p, const spreading_of& c) {
    std::vector<std::int64_t> biases;
    for (std::int64_t i = 0; i != c.weight[0]; ++i) biases.push_back(100 - 37 * i);
    return p.make<tosa::transpose_conv2d>({.input = p.input(dtype::int8, c.image),
        .weight = constant_codes(p, weight_codes(1), c.weight),
        .bias = integer_constant(p, dtype::int32, {c.weight[0]}, biases),
        .input_zp = integer_constant(p, dtype::int8, {1}, {c.input_zero}),
        .weight_zp = integer_constant(p, dtype::int8, {1}, {c.weight_zero}),
        .out_pad = c.out_pad,
        .stride = c.stride,
        .acc_type = dtype::int32});
}
/// With a factor of its own for each channel.
rescaling_of narrowing(std::int64_t channels) {
    rescaling_of r{.multipliers = {}, .shift = 36, .output_zero = 3, .to = dtype::int8};
    for (std::int64_t i = 0; i != channels; ++i) r.multipliers.push_back((1 << 30) + 12345 * i);
    return r;
}
npu_builder layer_for(const target_spec& target, const spreading_of& c) {
    return for_target(target, [=](program& p) {
        const value narrow = rescaled_by(p, spread_by(p, c), narrowing(c.weight[0]));
        return p.make<tosa::clamp>({.input = narrow, .min_val = -100, .max_val = 90});
    });
}
bool is_ordinary(const npu_builder& build) {
    program p;
    const graph& g = lowered<interleave_rows>(p, build);
    return count_of<tosa::transpose_conv2d>(g) == 0 && count_of<tosa::clamp>(g) == count_of<tosa::conv2d>(g);
}

}  // namespace

TEST_CASE("transposed convolutions of any window, stride and padding") {
    for (unsigned seed = 0; seed != 40; ++seed) {
        random_numbers any(seed);
        const std::int64_t height = any(1, 7), width = any(1, 7), channels = any(1, 4);
        const auto padded = [&](std::int64_t kernel) { return any(1 - kernel, 2); };
        const spreading_of c{.image = {any(1, 2), any(7, 9), any(7, 9), channels},
            .weight = {any(1, 4), height, width, channels},
            .out_pad = {padded(height), padded(height), padded(width), padded(width)},
            .stride = {any(1, 4), any(1, 4)},
            .input_zero = any(-128, 127),
            .weight_zero = any(-9, 9)};
        INFO(seed);
        const npu_builder build = layer_for(seed % 2 == 0 ? u55_npu : u85_npu, c);
        CHECK(is_ordinary(build));
        CHECK_THAT(build, computes_the_same<interleave_rows>().within(0));
    }
}

TEST_CASE("a table, and one factor for all channels") {
    const npu_builder build = for_target(u85_npu, [](program& p) {
        const value wide = spread_by(p, {{1, 4, 4, 3}, {2, 4, 4, 3}, {-1, -1, -1, -1}, {2, 2}});
        const value narrow = rescaled_by(p, wide, {.shift = 36, .to = dtype::int8});
        std::vector<std::int64_t> entries;
        for (std::int64_t i = 0; i != 256; ++i) entries.push_back(100 - i / 2);
        return p.make<tosa::table>(
            {.input1 = narrow, .table = integer_constant(p, dtype::int8, {256}, entries)});
    });
    CHECK_THAT(build, computes_the_same<interleave_rows>().within(0));
}

TEST_CASE("a RESCALE without activation, with a user of its own kind") {
    const npu_builder build = for_target(u55_npu, [](program& p) {
        const value wide = spread_by(p, {{1, 4, 4, 3}, {2, 3, 3, 3}, {-1, 0, -1, 0}, {2, 2}});
        return rescaled_by(p, wide, narrowing(2));
    });
    CHECK_THAT(build, computes_the_same<interleave_rows>().within(0));
}

TEST_CASE("wide sums, sums with several users and long strides stay") {
    CHECK_THAT(for_target(u85_npu,
                   [](program& p) {
                       return spread_by(p, {{1, 4, 4, 3}, {2, 4, 4, 3}, {0, 0, 0, 0}, {2, 2}});
                   }),
        is_left_alone_by<interleave_rows>());
    CHECK_THAT(for_target(u85_npu,
                   [](program& p) {
                       const value wide = spread_by(p, {{1, 4, 4, 3}, {2, 4, 4, 3}, {0, 0, 0, 0}, {2, 2}});
                       p.output(wide);
                       return rescaled_by(p, wide, narrowing(2));
                   }),
        is_left_alone_by<interleave_rows>());
    CHECK_THAT(layer_for(u85_npu, {{1, 1, 1, 1}, {1, 65, 65, 1}, {0, 0, 0, 0}, {65, 65}}),
        is_left_alone_by<interleave_rows>());
}

TEST_CASE("transposed convolutions are interleaved for processors alone") {
    CHECK(runs_for<interleave_rows>(u55_npu));
    CHECK(runs_for<interleave_rows>(u85_npu));
    CHECK(runs_for<interleave_rows>(*parse_target("TOSA-1.0+INT+core")));
    CHECK_FALSE(runs_for<interleave_rows>(integer_target));
}
