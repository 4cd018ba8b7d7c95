// SPDX-License-Identifier: MIT
// Tests that convolutions of groups of channels become one, with the same results.
#include <catch2/catch.hpp>

#include <headrace/passes/cortex_m/convolutions.hpp>
#include <headrace/passes/cortex_m/groups.hpp>

#include "../../support/npu_test.hpp"

using namespace headrace;

namespace {

constexpr target_spec cortex_m55 = *parse_target("TOSA-1.0+INT+core+mve");

struct convolution {
    std::int64_t batch = 1, height = 5, width = 6;
    std::int64_t groups = 3, in = 2, out = 2;  ///< channels of each group
    int_list kernel{3, 2}, pad{1, 1, 0, 0}, stride{1, 1};
    bool is_moved = false;             ///< from channels first and back
    bool per_channel = true;           ///< scales
    std::int64_t first = 0, step = 1;  ///< group that the first convolution reads, and those after it
    std::int64_t weight_zero = 0;
    std::int64_t cropped = 0;  ///< rows that no group reads
};
npu_builder convolved(const convolution& c) {
    return for_target(cortex_m55, [=](program& p) {
        const auto shape = [&](const int_list& sizes) {
            return p.make<tosa::const_shape>({.values = sizes});
        };
        const auto transposed = [&](value v, const int_list& perms) {
            return c.is_moved ? p.make<tosa::transpose>({.input1 = v, .perms = perms}) : v;
        };
        const std::int64_t all = c.groups * c.in;
        const value image = p.input(dtype::int8,
            c.is_moved ? int_list{c.batch, all, c.height + c.cropped, c.width}
                       : int_list{c.batch, c.height + c.cropped, c.width, all});
        std::vector<value> parts;
        for (std::int64_t g = 0; g != c.groups; ++g) {
            const std::int64_t from = (c.first + g * c.step) % c.groups * c.in;
            const value part = c.is_moved ? p.make<tosa::slice>({.input1 = image,
                                                .start = shape({0, from, 0, 0}),
                                                .size = shape({c.batch, c.in, c.height, c.width})})
                                          : p.make<tosa::slice>({.input1 = image,
                                                .start = shape({0, 0, 0, from}),
                                                .size = shape({c.batch, c.height, c.width, c.in})});
            const value sum = convolved_by(p, transposed(part, {0, 2, 3, 1}),
                {.image = {},
                    .weight = {c.out, c.kernel[0], c.kernel[1], c.in},
                    .pad = c.pad,
                    .stride = c.stride,
                    .weight_zero = c.weight_zero});
            rescaling_of scale{.shift = 40, .output_zero = 3, .to = dtype::int8};
            scale.multipliers.clear();
            for (std::int64_t i = 0; i != (c.per_channel ? c.out : 1); ++i)
                scale.multipliers.push_back(1234567890 + 98765432 * i + 12345678 * g);
            parts.push_back(transposed(rescaled_by(p, sum, scale), {0, 3, 1, 2}));
        }
        return p.make<tosa::concat>({.input1 = list<value>(parts), .axis = c.is_moved ? 1 : 3});
    });
}

}  // namespace

TEST_CASE("groups of any size") {
    for (unsigned seed = 0; seed != 40; ++seed) {
        random_numbers any(seed);
        const std::int64_t rows = any(1, 3), columns = any(1, 3);
        const convolution c{.batch = any(1, 2),
            .height = rows + any(0, 2),
            .width = columns + any(0, 2),
            .groups = any(2, 4),
            .in = any(1, 3),
            .out = any(1, 3),
            .kernel = {rows, columns},
            .pad = {any(0, 1), any(0, 1), any(0, 1), any(0, 1)},
            .is_moved = any(0, 1) == 1,
            .per_channel = any(0, 1) == 1,
            .cropped = any(0, 1)};
        INFO(seed);
        CHECK_THAT(convolved(c), computes_the_same<rejoin_groups>().within(0));
        CHECK(count_after<tosa::conv2d, rejoin_groups>(convolved(c)) == 1);
    }
}

TEST_CASE("one kernel, without the zeros and with a buffer for all channels") {
    for (const bool is_moved : {false, true}) {
        program p;
        const graph& g =
            lowered<rejoin_groups, select_convolutions>(p, convolved({.groups = 4, .is_moved = is_moved}));
        CHECK(count_of<tosa::slice>(g) == 0);
        CHECK(count_of<tosa::concat>(g) == 0);
        REQUIRE(count_of<cortex_m::quantized_conv2d_nhwc>(g) == 1);
        for (const node& n : g.nodes_of(info_of<cortex_m::quantized_conv2d_nhwc>)) {
            const auto& kernel = args_of<cortex_m::quantized_conv2d_nhwc>(n);
            CHECK(meta_of(kernel.weight)->shape == int_list{8, 3, 2, 2});
            CHECK(match<memory::alloc>(kernel.scratch)->size == int_list{4 * 3 * 2 * 8});
        }
    }
}

TEST_CASE("weights of other convolutions stay whole") {
    const auto build = for_target(cortex_m55, [](program& p) {
        const value sum = convolved_by(
            p, p.input(dtype::int8, {1, 4, 4, 4}), {.image = {}, .weight = {4, 3, 3, 4}, .weight_zero = 0});
        return rescaled_by(p, sum, {.shift = 40, .to = dtype::int8});
    });
    program p;
    for (const node& n :
        lowered<select_convolutions>(p, build).nodes_of(info_of<cortex_m::quantized_conv2d_nhwc>))
        CHECK(meta_of(args_of<cortex_m::quantized_conv2d_nhwc>(n).weight)->shape == int_list{4, 3, 3, 4});
}

TEST_CASE("slices in another order, or with weights that have a zero point, stay") {
    for (const convolution& c : {convolution{.first = 1}, convolution{.step = 2}, convolution{.step = 0},
             convolution{.weight_zero = 1}}) {
        CHECK_THAT(convolved(c), is_left_alone_by<rejoin_groups>());
    }
}
