// SPDX-License-Identifier: MIT
// Tests the decompositions that read elements at computed positions: grid_sampler, topk and sort.
#include <limits>

#include <catch2/catch.hpp>

#include <headrace/passes/decompose/resampling.hpp>
#include <headrace/passes/decompose/sorting.hpp>

#include "../../support/pass_test.hpp"

using namespace headrace;

namespace {

constexpr dtype fp32 = dtype::float32;

static_assert(effects_of<decompose_sampling>::removed_set == effects_of<decompose_sampling>::target_set);
static_assert(effects_of<decompose_sort>::removed_set == effects_of<decompose_sort>::target_set);
static_assert(effects_of<decompose_topk>::removed_set == effects_of<decompose_topk>::target_set);

}  // namespace

TEST_CASE("samples of images, also from beyond the edges") {
    for (const std::int64_t padding : {0, 1, 2}) {
        for (const bool align_corners : {false, true}) {
            for (const std::int64_t interpolation : {0, 1}) {
                CAPTURE(padding, align_corners, interpolation);
                CHECK_THAT(
                    [&](program& p) {
                        const value image = p.input(fp32, {2, 3, 4, 5});
                        const value grid = p.input(fp32, {2, 6, 3, 2});
                        p.output(
                            p.make<aten::grid_sampler>({image, grid, interpolation, padding, align_corners}));
                    },
                    computes_the_same<decompose_sampling>());
            }
        }
    }
}

TEST_CASE("samples of an image of one pixel") {
    CHECK_THAT(
        [&](program& p) {
            const value image = p.input(fp32, {1, 1, 1, 1});
            p.output(p.make<aten::grid_sampler_2d>({image, p.input(fp32, {1, 2, 2, 2}), 0, 2, true}));
        },
        computes_the_same<decompose_sampling>());
}

TEST_CASE("the k largest and smallest") {
    for (const bool largest : {true, false}) {
        for (const dtype type : {fp32, dtype::int32}) {
            CAPTURE(largest, type);
            CHECK_THAT(
                [&](program& p) {
                    node& n = p.make_node<aten::topk>(
                        {.self = p.input(type, {3, 7, 2}), .k = 3, .dim = 1, .largest = largest});
                    p.output(n.result(0));
                    p.output(n.result(1));
                },
                computes_the_same<decompose_topk>());
        }
    }
    CHECK_THAT(
        [&](program& p) { p.output(p.make_node<aten::topk>({.self = p.input(fp32, {}), .k = 1}).result(1)); },
        computes_the_same<decompose_topk>());
}

TEST_CASE("no position is found twice, whatever is left") {
    constexpr double inf = std::numeric_limits<double>::infinity();
    for (const bool largest : {true, false}) {
        const double last = largest ? -inf : inf;
        const auto build = [=](dtype type) {
            return [=](program& p) {
                node& n =
                    p.make_node<aten::topk>({.self = p.input(type, {2, 5}), .k = 4, .largest = largest});
                p.output(n.result(0));
                p.output(n.result(1));
            };
        };
        const std::vector<double> rows{last, 1, last, 1, last, last, last, last, last, last};
        CHECK_THAT(
            build(fp32), computes_the_same<decompose_topk>().for_inputs({tensor::of(fp32, {2, 5}, rows)}));
        const double end = largest ? -2147483648.0 : 2147483647.0;
        const std::vector<double> integers{end, 1, end, 2, end, end, end, end, end, end};
        CHECK_THAT(build(dtype::int32),
            computes_the_same<decompose_topk>().for_inputs({tensor::of(dtype::int32, {2, 5}, integers)}));
    }
}

TEST_CASE("elements in order, and where they were") {
    for (const bool descending : {true, false}) {
        for (const std::int64_t dim : {0, 1, -1}) {
            for (const dtype type : {fp32, dtype::int32, dtype::int64, dtype::int8, dtype::boolean}) {
                CAPTURE(descending, dim, type);
                CHECK_THAT(
                    [&](program& p) {
                        node& n = p.make_node<aten::sort>(
                            {.self = p.input(type, {3, 7, 4}), .dim = dim, .descending = descending});
                        p.output(n.result(0));
                        p.output(n.result(1));
                    },
                    computes_the_same<decompose_sort>());
            }
        }
    }
    CHECK_THAT(
        [&](program& p) {
            const value x = p.input(fp32, {});
            node& n = p.make_node<aten::sort_stable>({.self = x});
            p.output(n.result(0));
            p.output(n.result(1));
            p.output(p.make<aten::argsort>({.self = x}));
        },
        computes_the_same<decompose_sort>());
    CHECK_THAT(
        [&](program& p) {
            const value x = p.input(fp32, {5, 1});
            p.output(p.make<aten::msort>({.self = x}));
            p.output(p.make<aten::argsort_stable>({.self = x, .stable = true, .dim = 0, .descending = true}));
        },
        computes_the_same<decompose_sort>());
}

TEST_CASE("equal numbers keep their order, and NaN is the largest") {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const float inf = std::numeric_limits<float>::infinity();
    for (const bool descending : {true, false}) {
        CAPTURE(descending);
        CHECK_THAT(
            [&](program& p) {
                const value x = p.constant<float>(
                    fp32, {2, 6}, {1, nan, -0.0F, 0.0F, 1, -inf, nan, inf, 2, nan, -1, inf});
                node& n = p.make_node<aten::sort>({.self = x, .descending = descending});
                p.output(p.make<aten::isnan>({n.result(0)}));
                p.output(n.result(1));
            },
            computes_the_same<decompose_sort>());
    }
}

TEST_CASE("sorting what TOSA does not compare, or too much, is refused") {
    const auto sort_of = [](dtype type, int_list shape) {
        return [=](program& p) { p.output(p.make<aten::argsort>({.self = p.input(type, shape)})); };
    };
    CHECK_THAT(sort_of(dtype::uint8, {4}), is_refused_by<decompose_sort>("unsigned"));
    CHECK_THAT(sort_of(fp32, {1, 4097}), is_refused_by<decompose_sort>("16785409 comparisons"));
}
