// SPDX-License-Identifier: MIT
// Tests that windows are placed as TOSA's by kernels that pad equally, with as few copies as possible.
#include <catch2/catch.hpp>

#include <headrace/passes/cortex_m/convolutions.hpp>
#include <headrace/passes/cortex_m/images.hpp>
#include <headrace/passes/fold/redundancies.hpp>

#include "../../support/kernel_runs.hpp"

using namespace headrace;
using kernel_test::dice;
using testing::program;

namespace {

// A convolution of an image of that height and width, or of a part of it, by a 3x3 window.
struct placing {
    int_list size, stride, pad;
    int_list start{0, 0};
    int_list cropped{0, 0};  // 0: the whole
};
value convolved(program& p, const placing& c) {
    value v = p.input(dtype::int8, {1, c.size[0], c.size[1], 2});
    if (c.cropped[0] != 0) {
        v = p.make<tosa::slice>({v, kernel_test::shape_of(p, {0, c.start[0], c.start[1], 0}),
            kernel_test::shape_of(p, {1, c.cropped[0], c.cropped[1], 2})});
    }
    const std::vector<std::int64_t> ones(36, 1);
    const value sum = p.make<tosa::conv2d>({.input = v,
        .weight = kernel_test::integers(p, dtype::int8, {2, 3, 3, 2}, ones),
        .bias = kernel_test::number(p, dtype::int32, 0),
        .input_zp = kernel_test::number(p, dtype::int8, 5),
        .weight_zp = kernel_test::number(p, dtype::int8, 0),
        .pad = c.pad,
        .stride = c.stride,
        .dilation = {1, 1},
        .acc_type = dtype::int32});
    return kernel_test::narrowed(p, sum, {{0.05}});
}
struct copies {
    std::size_t crops, pads;
    int_list padding;  // of the kernel
    friend bool operator==(const copies&, const copies&) = default;
};
copies copies_of(const placing& c) {
    program p;
    const graph& g =
        lowered<select_convolutions, remove_dead_code>(p, [&](program& q) { q.output(convolved(q, c)); });
    const node& kernel = *g.nodes_of(info_of<cortex_m::quantized_conv2d_nhwc>).begin();
    return {count_of<tosa::slice>(g), count_of<aten::constant_pad_nd>(g),
        args_of<cortex_m::quantized_conv2d_nhwc>(kernel).padding};
}

}  // namespace

TEST_CASE("equal padding is recognized by the places of windows") {
    dice d(1);
    for (int i = 0; i != 5000; ++i) {
        const window w{d.from(1, 4), d.from(1, 4), d.from(1, 3), d.from(0, 4), 0};
        const std::int64_t size = d.from(1, 12), positions = d.from(1, 8);
        std::int64_t fitting = 0;
        while (fitting * w.stride + w.extent() <= size + 2 * w.before) ++fitting;
        CHECK(cortex_m::has_equal_padding(w, size, positions) == (fitting == positions));
    }
}

TEST_CASE("an image whose windows are where the kernel has them is read as it is") {
    CHECK(copies_of({{7, 9}, {2, 2}, {1, 1, 0, 0}}) == copies{0, 0, {1, 0}});
    CHECK(copies_of({{8, 8}, {2, 2}, {1, 0, 1, 0}}) == copies{0, 0, {1, 1}});
}

TEST_CASE("an image with more padding behind than before is padded") {
    CHECK(copies_of({{8, 8}, {2, 2}, {0, 1, 0, 1}}) == copies{0, 1, {0, 0}});
    CHECK(copies_of({{8, 7}, {2, 2}, {0, 1, 1, 1}}) == copies{0, 1, {0, 0}});
}

TEST_CASE("a crop of what no window reaches is undone") {
    CHECK(copies_of({{8, 9}, {2, 2}, {0, 0, 0, 0}, {0, 0}, {7, 9}}) == copies{0, 0, {0, 0}});
    CHECK(copies_of({{8, 10}, {2, 3}, {1, 0, 0, 0}, {0, 0}, {8, 9}}) == copies{0, 0, {1, 0}});
}

TEST_CASE("a crop that moves windows stays") {
    CHECK(copies_of({{8, 9}, {2, 2}, {0, 0, 0, 0}, {1, 0}, {7, 9}}) == copies{1, 0, {0, 0}});
    CHECK(copies_of({{9, 9}, {2, 2}, {0, 0, 0, 0}, {0, 0}, {7, 9}}) == copies{1, 0, {0, 0}});
    CHECK(copies_of({{8, 9}, {2, 2}, {1, 1, 0, 0}, {0, 0}, {7, 9}}) == copies{1, 0, {1, 0}});
}
