// SPDX-License-Identifier: MIT
// Tests the decompositions of data movement: stack, roll, copies along new axes, shuffles of channels,
// partial writes, windows and as_strided.
#include <catch2/catch.hpp>

#include <headrace/passes/decompose/convolution.hpp>
#include <headrace/passes/decompose/indexing.hpp>
#include <headrace/passes/decompose/rearrangements.hpp>
#include <headrace/passes/decompose/scans.hpp>

#include "../../support/pass_test.hpp"

using namespace headrace;

namespace {

constexpr dtype fp32 = dtype::float32;

template <class Pass>
constexpr bool removes_its_targets = effects_of<Pass>::removed_set == effects_of<Pass>::target_set;
static_assert(removes_its_targets<decompose_stack> && removes_its_targets<decompose_roll>);
static_assert(removes_its_targets<decompose_repeats> && removes_its_targets<decompose_shuffles>);
static_assert(removes_its_targets<decompose_partial_writes> && removes_its_targets<decompose_windows>);
static_assert(removes_its_targets<decompose_as_strided> && removes_its_targets<decompose_blocks>);

template <class Pass, class Op>
std::pmr::string compare(std::initializer_list<std::int64_t> shape, args<Op> a) {
    return compare_runs<Pass>([&](program& p) {
        args<Op> b = a;
        b.self = p.input(fp32, shape);
        p.output(p.make<Op>(b));
    });
}

}  // namespace

TEST_CASE("stack") {
    for (const std::int64_t dim : {0, 1, -1}) {
        CHECK_THAT(([&](program& p) {
            const value parts[] = {p.input(fp32, {2, 3}), p.input(fp32, {2, 3})};
            p.output(p.make<aten::stack>({.tensors = list<value>(parts, 2), .dim = dim}));
        }),
            computes_the_same<decompose_stack>());
    }
}

TEST_CASE("roll") {
    CHECK(compare<decompose_roll, aten::roll>({5, 3}, {.self = {}, .shifts = {2}}) == "");
    CHECK(compare<decompose_roll, aten::roll>({5, 3}, {.self = {}, .shifts = {-7, 3}, .dims = {0, 1}}) == "");
    CHECK(compare<decompose_roll, aten::roll>({5, 3}, {.self = {}, .shifts = {1}, .dims = {-1}}) == "");
}

TEST_CASE("copies along new axes") {
    CHECK(compare<decompose_repeats, aten::repeat_interleave_self_int>({2, 3}, {.self = {}, .repeats = 2}) ==
        "");
    CHECK(compare<decompose_repeats, aten::repeat_interleave_self_int>(
              {2, 3, 2}, {.self = {}, .repeats = 3, .dim = 1}) == "");
    for (const std::string_view indexing : {"ij", "xy"}) {
        CHECK_THAT(([&](program& p) {
            const value lines[] = {p.input(fp32, {2}), p.input(fp32, {3}), p.input(fp32, {})};
            node& n = p.make_node<aten::meshgrid_indexing>(
                {.tensors = list<value>(lines, 3), .indexing = indexing});
            for (std::uint32_t i = 0; i != 3; ++i) p.output(n.result(i));
        }),
            computes_the_same<decompose_repeats>());
    }
}

TEST_CASE("shuffles of channels") {
    CHECK(compare<decompose_shuffles, aten::pixel_shuffle>({2, 8, 3, 4}, {.self = {}, .upscale_factor = 2}) ==
        "");
    CHECK(
        compare<decompose_shuffles, aten::pixel_shuffle>({9, 2, 2}, {.self = {}, .upscale_factor = 3}) == "");
    CHECK(compare<decompose_shuffles, aten::pixel_unshuffle>(
              {2, 2, 2, 4, 6}, {.self = {}, .downscale_factor = 2}) == "");
    for (const std::int64_t groups : {1, 2, 4}) {
        CHECK(compare<decompose_shuffles, aten::channel_shuffle>({2, 4, 6}, {.self = {}, .groups = groups}) ==
            "");
    }
}

TEST_CASE("partial writes") {
    for (const std::int64_t index : {0, 2, -1}) {
        CHECK_THAT(
            [&](program& p) {
                const value x = p.input(fp32, {2, 4, 3});
                p.output(p.make<aten::select_scatter>(
                    {.self = x, .src = p.input(fp32, {2, 3}), .dim = 1, .index = index}));
            },
            computes_the_same<decompose_partial_writes>());
    }
    for (const std::int64_t step : {1, 2, 3, 9}) {
        for (const std::int64_t start : {0, 1, 5}) {
            for (const std::int64_t end : {6, 7, 100}) {
                CAPTURE(step, start, end);
                CHECK_THAT(
                    [&](program& p) {
                        const value x = p.input(fp32, {2, 7, 3});
                        const std::int64_t count = clamped_slice(start, end, 7).count(step);
                        const value part = p.input(fp32, {2, count, 3});
                        p.output(p.make<aten::slice_scatter>(
                            {.self = x, .src = part, .dim = 1, .start = start, .end = end, .step = step}));
                    },
                    computes_the_same<decompose_partial_writes>());
            }
        }
    }
}

TEST_CASE("windows") {
    CHECK(compare<decompose_windows, aten::unfold>(
              {3, 10}, {.self = {}, .dimension = 1, .size = 3, .step = 2}) == "");
    CHECK(compare<decompose_windows, aten::unfold>(
              {10, 2}, {.self = {}, .dimension = 0, .size = 3, .step = 3}) == "");
    CHECK(compare<decompose_windows, aten::unfold>(
              {2, 10, 2}, {.self = {}, .dimension = -2, .size = 2, .step = 5}) == "");
}

TEST_CASE("blocks of images, and images of blocks") {
    struct geometry {
        int_list kernel, dilation, padding, stride;
    };
    const geometry all[] = {{{2, 3}, {1, 1}, {0, 0}, {1, 1}}, {{2, 2}, {1, 1}, {0, 0}, {2, 2}},
        {{3, 2}, {1, 2}, {1, 0}, {2, 1}}, {{2, 2}, {2, 3}, {2, 1}, {3, 2}}};
    for (const geometry& g : all) {
        CHECK(compare<decompose_blocks, aten::im2col>(
                  {2, 3, 6, 7}, {{}, g.kernel, g.dilation, g.padding, g.stride}) == "");
        CHECK_THAT(
            [&](program& p) {
                const value x = p.input(fp32, {2, 3, 6, 7});
                const value columns = p.make<aten::im2col>({x, g.kernel, g.dilation, g.padding, g.stride});
                p.output(p.make<aten::col2im>({columns, {6, 7}, g.kernel, g.dilation, g.padding, g.stride}));
            },
            computes_the_same<decompose_blocks>());
    }
    CHECK(compare<decompose_blocks, aten::im2col>({3, 4, 4}, {{}, {2, 2}, {1, 1}, {1, 1}, {1, 1}}) == "");
    CHECK(
        compare<decompose_blocks, aten::col2im>({12, 9}, {{}, {6, 6}, {2, 2}, {1, 1}, {0, 0}, {2, 2}}) == "");
}

TEST_CASE("cumprod by doubling") {
    for (const std::int64_t size : {1, 2, 5, 8})
        CHECK(compare<decompose_cumprod, aten::cumprod>({2, size, 3}, {.self = {}, .dim = 1}) == "");
    CHECK(compare<decompose_cumprod, aten::cumprod>({5}, {.self = {}, .dim = -1, .dtype = dtype::float64}) ==
        "");
    CHECK(compare<decompose_cumprod, aten::cumprod>({}, {.self = {}, .dim = 0}) == "");
}

TEST_CASE("as_strided") {
    CHECK(compare<decompose_as_strided, aten::as_strided>(
              {4, 5}, {.self = {}, .size = {2, 5}, .stride = {5, 1}, .storage_offset = 5}) == "");
    CHECK(compare<decompose_as_strided, aten::as_strided>(
              {4, 5}, {.self = {}, .size = {3, 2}, .stride = {1, 6}, .storage_offset = 2}) == "");
    CHECK_THAT(
        [](program& p) {
            const value x = p.make<aten::permute>({.self = p.input(fp32, {4, 5}), .dims = {1, 0}});
            p.output(p.make<aten::as_strided>({.self = x, .size = {4}, .stride = {1}}));
        },
        is_refused_by<decompose_as_strided>("as_strided of a view"));
    const auto of_mean = [](std::int64_t reduced) {  // of axes of 1, 4 and 5
        return [=](program& p) {
            const value x = p.make<aten::permute>({.self = p.input(fp32, {1, 4, 5}), .dims = {0, 2, 1}});
            const value y = p.make<aten::mean_dim>({.self = x, .dim = int_list{reduced}, .keepdim = true});
            p.output(p.make<aten::as_strided>({.self = y, .size = {1, 4}, .stride = {4, 1}}));
        };
    };
    CHECK_THAT(of_mean(1), computes_the_same<decompose_as_strided>());
    CHECK_THAT(of_mean(0), is_refused_by<decompose_as_strided>("as_strided of a view"));
}

TEST_CASE("one number at the indices of an axis") {
    for (const std::int64_t dim : {0, 1, -1}) {
        CHECK_THAT(
            [=](program& p) {
                const value self = p.input(fp32, {3, 2, 4});
                const value index = p.constant<std::int32_t>(dtype::int32, {2}, {1, -2});
                p.output(p.make<aten::index_fill_int_scalar>({self, dim, index, scalar(2.5)}));
            },
            computes_the_same<decompose_partial_writes>().within(0));
    }
}

TEST_CASE("a part of another type is converted") {
    CHECK_THAT(
        [](program& p) {
            const value x = p.input(fp32, {2, 4, 3});
            p.output(p.make<aten::select_scatter>(
                {.self = x, .src = p.input(dtype::int32, {2, 3}), .dim = 1, .index = 2}));
        },
        computes_the_same<decompose_partial_writes>());
}
