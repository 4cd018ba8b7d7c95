// SPDX-License-Identifier: MIT
// Tests the decomposition of adaptive and dilated poolings.
#include <catch2/catch.hpp>

#include <headrace/passes/decompose/pooling.hpp>

#include "../../support/pass_test.hpp"

using namespace headrace;

namespace {

constexpr dtype fp32 = dtype::float32;

static_assert(effects_of<decompose_adaptive_pooling>::removed_set ==
    effects_of<decompose_adaptive_pooling>::target_set);
static_assert(effects_of<decompose_dilated_pooling>::sound);
static_assert(effects_of<decompose_dilated_pooling>::removed_set.empty());

template <class Op>
auto adaptive(std::int64_t h, std::int64_t w, std::int64_t out_h, std::int64_t out_w, dtype type = fp32) {
    return [=](program& p) {
        p.output(
            p.make_node<Op>({.self = p.input(type, {2, 3, h, w}), .output_size = {out_h, out_w}}).result(0));
    };
}
std::pmr::string dilated(args<aten::max_pool2d> a, dtype type = fp32) {
    const auto build = [=](program& p) {
        args<aten::max_pool2d> b = a;
        b.self = p.input(type, {2, 3, 11, 9});
        p.output(p.make<aten::max_pool2d>(b));
    };
    program p;
    build(p);
    p.finish();
    pass_context context;
    std::pmr::string fault = run_pass<decompose_dilated_pooling>(p.g, context);
    if (count_of<aten::max_pool2d>(p.g) != 0) fault += "still dilated";
    return fault.empty() ? compare_runs<decompose_dilated_pooling>(build, {}, 0) : fault;
}

}  // namespace

TEST_CASE("adaptive poolings, uniform and not, and to more than there is") {
    struct {
        std::int64_t in, out;
    } const axes[] = {{8, 4}, {8, 8}, {6, 1}, {7, 3}, {3, 7}, {5, 4}, {10, 7}, {1, 3}, {9, 5}, {7, 4}};
    for (const auto& h : axes) {
        for (const auto& w : axes) {
            CAPTURE(h.in, h.out, w.in, w.out);
            CHECK_THAT(adaptive<aten::adaptive_avg_pool2d>(h.in, w.in, h.out, w.out),
                computes_the_same<decompose_adaptive_pooling>());
            CHECK_THAT(adaptive<aten::adaptive_max_pool2d>(h.in, w.in, h.out, w.out),
                computes_the_same<decompose_adaptive_pooling>().within(0));
        }
    }
    CHECK_THAT(adaptive<aten::adaptive_avg_pool2d>(7, 8, 3, 5, dtype::float16),
        computes_the_same<decompose_adaptive_pooling>().within(5e-3));
    CHECK_THAT(adaptive<aten::adaptive_max_pool2d>(7, 8, 3, 5, dtype::float16),
        computes_the_same<decompose_adaptive_pooling>().within(0));
}

TEST_CASE("adaptive poolings to nothing, and into more bins than anybody needs, are refused") {
    CHECK_THAT(adaptive<aten::adaptive_avg_pool2d>(8, 5, 0, 5),
        is_refused_by<decompose_adaptive_pooling>("no empty tensors"));
    constexpr std::int64_t many = 1 << 22;
    CHECK_THAT(adaptive<aten::adaptive_avg_pool2d>(5, 5, 1, many),
        is_refused_by<decompose_adaptive_pooling>("unrolled into more than 65536 nodes"));
}

TEST_CASE("a uniform adaptive pooling is one pooling") {
    program p;
    adaptive<aten::adaptive_avg_pool2d>(8, 6, 4, 1)(p);
    p.finish();
    pass_context context;
    REQUIRE(run_pass<decompose_adaptive_pooling>(p.g, context) == "");
    CHECK(count_of<aten::avg_pool2d>(p.g) == 1);
    CHECK(p.g.size() == 3);
}

TEST_CASE("dilated poolings") {
    for (const bool ceil_mode : {false, true}) {
        for (const std::int64_t padding : {0, 1}) {
            for (const std::int64_t stride : {1, 2, 3}) {
                CAPTURE(ceil_mode, padding, stride);
                CHECK(dilated({.self = {},
                          .kernel_size = {3, 3},
                          .stride = {stride, stride},
                          .padding = {padding, padding},
                          .dilation = {2, 2},
                          .ceil_mode = ceil_mode}) == "");
                CHECK(dilated({.self = {},
                          .kernel_size = {2, 3},
                          .stride = {stride, 1},
                          .padding = {padding, 0},
                          .dilation = {4, 1},
                          .ceil_mode = ceil_mode}) == "");
            }
        }
    }
    CHECK(dilated({.self = {}, .kernel_size = {2}, .dilation = {3}}) == "");
    CHECK(dilated({.self = {}, .kernel_size = {2, 2}, .padding = {1, 1}, .dilation = {1, 2}},
              dtype::float16) == "");
}

TEST_CASE("poolings of integers that TOSA's takes none of") {
    for (const dtype type : {dtype::int32, dtype::int64}) {
        INFO(name_of(type));
        CHECK(dilated({.self = {}, .kernel_size = {3}, .stride = {2}, .padding = {1}}, type) == "");
        CHECK(dilated({.self = {}, .kernel_size = {2, 3}, .stride = {2, 2}, .ceil_mode = true}, type) == "");
        CHECK(dilated({.self = {}, .kernel_size = {3}, .stride = {1}, .padding = {1}, .dilation = {2}},
                  type) == "");
        CHECK(dilated({.self = {}, .kernel_size = {1}, .stride = {1}}, type) == "");
    }
}

TEST_CASE("a pooling without dilation stays") {
    program p;
    p.output(p.make<aten::max_pool2d>({.self = p.input(fp32, {1, 2, 6, 6}), .kernel_size = {2, 2}}));
    p.finish();
    pass_context context;
    REQUIRE(run_pass<decompose_dilated_pooling>(p.g, context) == "");
    CHECK(count_of<aten::max_pool2d>(p.g) == 1);
}
