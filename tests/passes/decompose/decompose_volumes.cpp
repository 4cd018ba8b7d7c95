// SPDX-License-Identifier: MIT
// Tests ops over three axes, which are decomposed into ops over two, and bicubic resampling by matrix
// products.
#include <catch2/catch.hpp>

#include <array>

#include <headrace/passes/decompose/convolution.hpp>
#include <headrace/passes/decompose/pooling.hpp>
#include <headrace/passes/decompose/resampling.hpp>

#include "../../support/pass_test.hpp"

using namespace headrace;

namespace {

constexpr dtype fp32 = dtype::float32;
using shape_list = int_list;

static_assert(effects_of<decompose_volumes>::removed_set == effects_of<decompose_volumes>::target_set);
static_assert(effects_of<decompose_bicubic>::sound);
static_assert(effects_of<decompose_transposed_volumes>::sound);

/// The first result of an op of `self`, for a batch and for one volume.
template <class Op>
std::pmr::string pooled(args<Op> a, double tolerance = 1e-5) {
    for (const shape_list& shape : {shape_list{2, 3, 6, 5, 7}, shape_list{3, 6, 5, 7}}) {
        const std::pmr::string fault = compare_runs<decompose_volumes>(
            [=](program& p) {
                args<Op> b = a;
                b.self = p.input(fp32, shape);
                p.output(p.make_node<Op>(b).result(0));
            },
            {}, tolerance);
        if (!fault.empty()) return fault;
    }
    return "";
}
template <class Pass, class Op>
std::pmr::string resized(shape_list shape, args<Op> a, dtype type = fp32) {
    return compare_runs<Pass>(
        [=](program& p) {
            args<Op> b = a;
            if constexpr (requires { b.input; }) {
                b.input = p.input(type, shape);
            } else {
                b.self = p.input(type, shape);
            }
            p.output(p.make<Op>(b));
        },
        {}, type == fp32 ? 1e-5 : 5e-3);
}

}  // namespace

TEST_CASE("poolings of volumes") {
    CHECK(pooled<aten::max_pool3d>({.self = {}, .kernel_size = {2}}, 0) == "");
    CHECK(pooled<aten::max_pool3d>({.self = {},
                                       .kernel_size = {3, 2, 3},
                                       .stride = {2, 1, 2},
                                       .padding = {1, 1, 0},
                                       .dilation = {1, 2, 1},
                                       .ceil_mode = true},
              0) == "");
    CHECK(pooled<aten::max_pool3d_with_indices>({.self = {}, .kernel_size = {2, 3, 1}}, 0) == "");
    for (const bool ceil_mode : {false, true}) {
        for (const bool counted : {false, true}) {
            for (const std::optional<std::int64_t> divisor : {std::optional<std::int64_t>(), {5}}) {
                CAPTURE(ceil_mode, counted, divisor.has_value());
                CHECK(pooled<aten::avg_pool3d>({.self = {},
                          .kernel_size = {3, 2, 3},
                          .stride = {2, 2, 3},
                          .padding = {1, 0, 1},
                          .ceil_mode = ceil_mode,
                          .count_include_pad = counted,
                          .divisor_override = divisor}) == "");
            }
        }
    }
    CHECK(pooled<aten::adaptive_avg_pool3d>({.self = {}, .output_size = {4, 1, 3}}) == "");
    CHECK(pooled<aten::_adaptive_avg_pool3d>({.self = {}, .output_size = {1, 1, 1}}) == "");
    CHECK(pooled<aten::adaptive_max_pool3d>({.self = {}, .output_size = {2, 5, 4}}, 0) == "");
}

TEST_CASE("volumes are resized plane by plane, and then in depth") {
    const std::array numbers{2.0, 1.5, 2.0};  // a list does not own its elements
    const list<double> factors(numbers);
    CHECK(resized<decompose_volumes, aten::upsample_nearest3d>(
              {2, 3, 3, 4, 2}, {.self = {}, .output_size = {5, 4, 7}}) == "");
    CHECK(resized<decompose_volumes, aten::upsample_nearest3d_vec>(
              {2, 3, 3, 4, 2}, {.input = {}, .output_size = {}, .scale_factors = factors}) == "");
    CHECK(resized<decompose_volumes, aten::_upsample_nearest_exact3d>(
              {2, 3, 3, 4, 2}, {.self = {}, .output_size = {5, 4, 7}}) == "");
    CHECK(resized<decompose_volumes, aten::_upsample_nearest_exact3d_vec>(
              {2, 3, 3, 4, 2}, {.input = {}, .output_size = {}, .scale_factors = factors}) == "");
    for (const bool aligned : {false, true}) {
        CHECK(resized<decompose_volumes, aten::upsample_trilinear3d>(
                  {2, 3, 3, 4, 2}, {.self = {}, .output_size = {5, 4, 7}, .align_corners = aligned}) == "");
        CHECK(
            resized<decompose_volumes, aten::upsample_trilinear3d_vec>({2, 3, 3, 4, 2},
                {.input = {}, .output_size = {}, .align_corners = aligned, .scale_factors = factors}) == "");
    }
}

TEST_CASE("bicubic resampling is a product on either side") {
    const std::array numbers{1.5, 2.0};
    const list<double> factors(numbers);
    for (const bool aligned : {false, true}) {
        for (const shape_list& size : {shape_list{7, 9}, shape_list{2, 3}, shape_list{4, 1}}) {
            CAPTURE(aligned);
            CHECK(resized<decompose_bicubic, aten::upsample_bicubic2d>(
                      {2, 3, 4, 5}, {.self = {}, .output_size = size, .align_corners = aligned}) == "");
        }
        CHECK(
            resized<decompose_bicubic, aten::upsample_bicubic2d_vec>({1, 2, 4, 5},
                {.input = {}, .output_size = {}, .align_corners = aligned, .scale_factors = factors}) == "");
    }
    CHECK(resized<decompose_bicubic, aten::upsample_bicubic2d>({1, 2, 4, 5},
              {.self = {}, .output_size = {8, 8}, .align_corners = false}, dtype::float16) == "");
}

TEST_CASE("transposed convolutions of volumes") {
    struct {
        shape_list stride, padding, dilation, output_padding;
    } const forms[] = {{{1, 1, 1}, {0, 0, 0}, {1, 1, 1}, {0, 0, 0}},
        {{2, 1, 3}, {1, 0, 2}, {1, 1, 1}, {1, 0, 2}}, {{2, 2, 2}, {3, 2, 0}, {2, 1, 1}, {0, 1, 0}}};
    for (const auto& form : forms) {
        for (const bool biased : {false, true}) {
            const auto build = [=](program& p) {
                const value x = p.input(fp32, {2, 3, 3, 4, 3});
                const value weight = p.input(fp32, {3, 2, 3, 2, 3});
                std::optional<value> bias;
                if (biased) bias = p.input(fp32, {2});
                p.output(p.make<aten::convolution>({x, weight, bias, form.stride, form.padding, form.dilation,
                    true, form.output_padding, 1}));
            };
            CHECK_THAT(build, computes_the_same<decompose_transposed_volumes>());
        }
    }
}
