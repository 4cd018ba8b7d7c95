// SPDX-License-Identifier: MIT
// Tests the canonical forms of convolutions and poolings: with a batch, lists at full length, poolings in 2D.
#include <catch2/catch.hpp>

#include <headrace/passes/normalize/windows.hpp>

#include "../../support/pass_test.hpp"

using namespace headrace;

namespace {

constexpr dtype fp32 = dtype::float32;
using shape_list = int_list;  // an initializer_list would dangle in the closures

static_assert(effects_of<canonicalize_convolutions>::removed_set.contains<aten::conv2d>());
static_assert(!effects_of<canonicalize_convolutions>::removed_set.contains<aten::convolution>());
static_assert(effects_of<canonicalize_pooling>::removed_set.contains<aten::max_pool1d>());
static_assert(!effects_of<canonicalize_pooling>::removed_set.contains<aten::max_pool2d>());

/// A convolution whose other arguments `set(args&)` sets; without bias if there are no channels for one.
template <class Op, class Set>
std::pmr::string convolve(shape_list input, shape_list weight, std::int64_t bias, const Set& set) {
    const auto build = [&](program& p) {
        args<Op> a{};
        set(a);
        a.input = p.input(fp32, input);
        a.weight = p.input(fp32, weight);
        if (bias != 0) a.bias = p.input(fp32, {bias});
        p.output(p.make<Op>(a));
    };
    program p;
    build(p);
    p.finish();
    pass_context context;
    std::pmr::string fault = run_pass<canonicalize_convolutions>(p.g, context);
    if (count_of<aten::convolution>(p.g) != 1) fault += "not canonical";
    return fault.empty() ? compare_runs<canonicalize_convolutions>(build) : fault;
}
constexpr auto as_is = [](auto&) {};

template <class Op, class Set>
std::pmr::string pool(shape_list input, const Set& set) {
    return compare_runs<canonicalize_pooling>([&](program& p) {
        args<Op> a{};
        set(a);
        a.self = p.input(fp32, input);
        p.output(p.make_node<Op>(a).result(0));
    });
}

}  // namespace

TEST_CASE("convolutions of all ranks, with and without batch and bias") {
    CHECK(convolve<aten::conv1d>({2, 3, 9}, {4, 3, 3}, 4, as_is) == "");
    CHECK(convolve<aten::conv1d>({3, 9}, {4, 3, 3}, 0, [](auto& a) { a.stride = {2}; }) == "");
    CHECK(convolve<aten::conv2d>({2, 4, 7, 6}, {6, 2, 3, 2}, 6, [](auto& a) {
        a.stride = {2, 1};
        a.padding = {1, 0};
        a.dilation = {1, 2};
        a.groups = 2;
    }) == "");
    CHECK(convolve<aten::conv2d>({3, 8, 8}, {5, 3, 3, 3}, 5, [](auto& a) { a.padding = {1, 1}; }) == "");
    CHECK(convolve<aten::conv3d>({1, 2, 4, 5, 6}, {3, 2, 2, 3, 2}, 3, as_is) == "");
    CHECK(convolve<aten::conv3d>({2, 4, 5, 6}, {3, 2, 2, 3, 2}, 0, [](auto& a) {
        a.stride = {1, 2, 2};
    }) == "");
}

TEST_CASE("one number stands for all axes") {
    CHECK(convolve<aten::conv2d>({2, 3, 9, 8}, {4, 3, 3, 3}, 4, [](auto& a) {
        a.stride = {2};
        a.padding = {1};
        a.dilation = {2};
    }) == "");
    CHECK(
        convolve<aten::conv3d>({1, 2, 5, 5, 5}, {3, 2, 2, 2, 2}, 0, [](auto& a) { a.padding = {1}; }) == "");
}

TEST_CASE("padding by name") {
    const auto same = [](auto& a) { a.padding = "same"; };
    const auto same_dilated = [](auto& a) {
        a.padding = "same";
        a.dilation = {3};
    };
    for (const std::int64_t kernel : {1, 2, 3, 4}) {
        CAPTURE(kernel);
        CHECK(convolve<aten::conv1d_padding>({2, 3, 9}, {4, 3, kernel}, 4, same) == "");
        CHECK(convolve<aten::conv1d_padding>({3, 9}, {4, 3, kernel}, 0, same_dilated) == "");
        CHECK(convolve<aten::conv2d_padding>({1, 3, 7, 6}, {4, 3, kernel, 3}, 4, same) == "");
        CHECK(convolve<aten::conv2d_padding>({3, 7, 9}, {4, 3, 2, kernel}, 0, same_dilated) == "");
        CHECK(convolve<aten::conv2d_padding>({2, 3, 7, 6}, {4, 3, kernel, 3}, 4, [](auto& a) {
            a.stride = {2, 2};
        }) == "");
        CHECK(convolve<aten::conv3d_padding>({1, 2, 4, 5, 6}, {2, 2, kernel, 2, 3}, 0, same) == "");
    }
    CHECK(convolve<aten::conv2d_padding>({1, 4, 7, 6}, {4, 1, 2, 3}, 4, [](auto& a) {
        a.padding = "same";
        a.groups = 4;
    }) == "");
    CHECK(convolve<aten::conv3d_padding>({2, 4, 5, 6}, {2, 2, 2, 2, 3}, 2, as_is) == "");
}

TEST_CASE("aten.convolution gets lists at full length") {
    for (const bool transposed : {false, true}) {
        CAPTURE(transposed);
        const auto short_lists = [=](auto& a) {
            a.stride = {2};
            a.padding = {1};
            a.dilation = {1};
            a.transposed = transposed;
            a.output_padding = {0};
            a.groups = 1;
        };
        CHECK(convolve<aten::convolution>({2, 4, 7, 6}, {4, 4, 3, 2}, 4, short_lists) == "");
    }
}

TEST_CASE("transposed convolutions") {
    const auto full = [](auto& a) {
        a.stride = {3};
        a.padding = {1};
        a.output_padding = {2};
        a.dilation = {2};
    };
    CHECK(convolve<aten::conv_transpose1d>({2, 3, 5}, {3, 4, 3}, 4, full) == "");
    CHECK(convolve<aten::conv_transpose1d>({3, 5}, {3, 4, 3}, 0, as_is) == "");
    CHECK(convolve<aten::conv_transpose2d_input>({2, 3, 5, 4}, {3, 4, 3, 2}, 4, full) == "");
    CHECK(convolve<aten::conv_transpose2d_input>({4, 5, 4}, {4, 2, 3, 2}, 4, [](auto& a) {
        a.stride = {2, 1};
        a.groups = 2;
    }) == "");
    CHECK(convolve<aten::conv_transpose3d_input>({1, 2, 3, 4, 3}, {2, 3, 2, 3, 2}, 3, full) == "");
}

TEST_CASE("poolings of one axis, and without a batch") {
    for (const bool ceil_mode : {false, true}) {
        const auto full = [=](auto& a) {
            a.kernel_size = {3};
            a.stride = {2};
            a.padding = {1};
            a.ceil_mode = ceil_mode;
        };
        const auto uncounted = [=](auto& a) {
            full(a);
            a.count_include_pad = false;
        };
        const auto dilated = [=](auto& a) {
            full(a);
            a.dilation = {2};
        };
        const auto plain = [](auto& a) { a.kernel_size = {2}; };
        CHECK(pool<aten::avg_pool1d>({2, 3, 10}, full) == "");
        CHECK(pool<aten::avg_pool1d>({3, 10}, uncounted) == "");
        CHECK(pool<aten::avg_pool1d>({3, 9}, plain) == "");
        CHECK(pool<aten::max_pool1d>({2, 3, 10}, dilated) == "");
        CHECK(pool<aten::max_pool1d>({3, 10}, full) == "");
        CHECK(pool<aten::max_pool1d>({1, 3, 9}, plain) == "");
        CHECK(pool<aten::max_pool1d_with_indices>({3, 10}, dilated) == "");
        CHECK(pool<aten::avg_pool2d>({3, 10, 9}, full) == "");
        CHECK(pool<aten::avg_pool2d>({3, 10, 9}, uncounted) == "");
        CHECK(pool<aten::max_pool2d>({3, 10, 9}, dilated) == "");
        CHECK(pool<aten::max_pool2d_with_indices>({3, 10, 9}, full) == "");
        CHECK(pool<aten::max_pool2d_with_indices>({2, 3, 10, 9}, dilated) == "");
    }
}

TEST_CASE("adaptive poolings") {
    const auto to_two = [](auto& a) { a.output_size = {2}; };
    const auto to_matrix = [](auto& a) { a.output_size = {3, 2}; };
    CHECK(pool<aten::adaptive_avg_pool1d>({2, 3, 7}, to_two) == "");
    CHECK(pool<aten::adaptive_avg_pool1d>({3, 7}, to_two) == "");
    CHECK(pool<aten::adaptive_avg_pool2d>({3, 7, 5}, to_matrix) == "");
    CHECK(pool<aten::_adaptive_avg_pool2d>({2, 3, 7, 5}, to_matrix) == "");
    CHECK(pool<aten::_adaptive_avg_pool2d>({3, 7, 5}, to_matrix) == "");
    CHECK(pool<aten::adaptive_max_pool2d>({3, 7, 5}, to_matrix) == "");
}

TEST_CASE("indices of a pooling are refused") {
    CHECK_THAT(
        [](program& p) {
            p.output(p.make_node<aten::max_pool1d_with_indices>(
                          {.self = p.input(fp32, {1, 2, 4}), .kernel_size = {2}})
                         .result(1));
        },
        is_refused_by<canonicalize_pooling>("no indices"));
    CHECK_THAT(
        [](program& p) {
            p.output(p.make_node<aten::max_pool2d_with_indices>(
                          {.self = p.input(fp32, {1, 2, 4, 4}), .kernel_size = {2}})
                         .result(1));
        },
        is_refused_by<canonicalize_pooling>("no indices"));
    CHECK_THAT(
        [](program& p) {
            p.output(p.make_node<aten::adaptive_max_pool2d>(
                          {.self = p.input(fp32, {1, 2, 4, 4}), .output_size = {2, 2}})
                         .result(1));
        },
        is_refused_by<canonicalize_pooling>("no indices"));
}
