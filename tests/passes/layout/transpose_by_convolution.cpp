// SPDX-License-Identifier: MIT
// Tests that transposes of few planes become convolutions, bit for bit.
#include <catch2/catch.hpp>

#include <headrace/passes/layout/moving_ops.hpp>

#include "../../support/npu_test.hpp"

using namespace headrace;

namespace {

constexpr dtype i8 = dtype::int8;
static_assert(effects_of<transpose_by_convolution>::sound);

auto image(dtype type, std::initializer_list<std::int64_t> shape) {
    const int_list extents(shape);
    return [type, sizes_of = std::vector<std::int64_t>(extents.begin(), extents.end())](program& p) {
        p.g.set_target(u85_npu);
        const value x = p.input(type, int_list(std::span<const std::int64_t>(sizes_of)));
        p.output(p.make<tosa::transpose>({.input1 = x, .perms = {0, 2, 3, 1}}));
    };
}
template <class Build>
std::size_t left(const Build& build) {
    return count_after<tosa::transpose, transpose_by_convolution>(build);
}

}  // namespace

TEST_CASE("an image to channels-last") {
    for (const auto& build :
        {image(i8, {1, 3, 16, 16}), image(i8, {2, 4, 8, 32}), image(i8, {3, 2, 20, 16})}) {
        CHECK(left(build) == 0);
        CHECK_THAT(build, computes_the_same<transpose_by_convolution>().within(0));
    }
}

TEST_CASE("other transposes stay: many planes, few pixels or an odd number, other types") {
    CHECK(left(image(i8, {1, 5, 16, 16})) == 1);
    CHECK(left(image(i8, {1, 3, 8, 8})) == 1);
    CHECK(left(image(i8, {1, 3, 17, 17})) == 1);
    CHECK(left(image(dtype::int16, {1, 3, 16, 16})) == 1);
}

TEST_CASE("an image that is cropped to a number of pixels that makes no groups") {
    const auto cropped = [](const target_spec& target) {
        return for_target(target, [](program& p) {
            const auto shape = [&](const int_list& sizes) {
                return p.make<tosa::const_shape>({.values = sizes});
            };
            const value part = p.make<tosa::slice>({.input1 = p.input(i8, {1, 3, 16, 18}),
                .start = shape({0, 0, 1, 0}),
                .size = shape({1, 3, 15, 17})});
            return p.make<tosa::transpose>({.input1 = part, .perms = {0, 2, 3, 1}});
        });
    };
    CHECK(left(cropped(u85_npu)) == 0);
    CHECK_THAT(cropped(u85_npu), computes_the_same<transpose_by_convolution>().within(0));
    CHECK_THAT(cropped(integer_target), is_left_alone_by<transpose_by_convolution>());
}

TEST_CASE("it is for an Ethos-U85 alone") {
    graph g;
    const auto runs = [&](std::string_view target) {
        g.set_target(*parse_target(target));
        return transpose_by_convolution{}.should_run(g);
    };
    CHECK(runs("TOSA-1.0+INT+u85"));
    CHECK_FALSE(runs("TOSA-1.0+INT"));
    CHECK_FALSE(runs("TOSA-1.0+INT+u55"));
    CHECK_FALSE(runs("TOSA-1.0+FP"));
}
