// SPDX-License-Identifier: MIT
// Tests the decompositions that take elements by computed positions: grid_sampler and topk.
#include <catch2/catch.hpp>

#include <headrace/passes/decompose/decompose_sampling.hpp>
#include <headrace/passes/decompose/decompose_topk.hpp>

#include "../../support/pass_test.hpp"

using namespace headrace;

namespace {

constexpr dtype fp32 = dtype::float32;

static_assert(effects_of<decompose_sampling>::removed_set == effects_of<decompose_sampling>::target_set);
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
