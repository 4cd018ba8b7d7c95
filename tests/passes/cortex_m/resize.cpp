// SPDX-License-Identifier: MIT
// Tests that RESIZE becomes one convolution, or copies of elements, with the same results.
#include <catch2/catch.hpp>

#include <headrace/passes/cortex_m/convolutions.hpp>
#include <headrace/passes/cortex_m/resize.hpp>

#include "../../support/npu_test.hpp"

using namespace headrace;

namespace {

constexpr target_spec cortex_m55 = *parse_target("TOSA-1.0+INT+core+mve");

/// Result o of `out` is at (o · d + offset) / n between `size` elements.
struct axis {
    std::int64_t size, out, n, d, offset;

    [[nodiscard]] std::int64_t border() const { return (out - 1) * d - (size - 1) * n + offset; }
};
struct resizing {
    axis h, w;
    resize_mode mode = resize_mode::bilinear;
    std::int64_t batches = 1, channels = 3;
    std::int64_t subtrahend = 0;  ///< of a SUB, if not 0
    rescaling_of scale{.multipliers = {1 << 30}, .shift = 34, .output_zero = -7, .to = dtype::int8};
};
npu_builder resized(const resizing& r) {
    return for_target(cortex_m55, [=](program& p) {
        const auto shape = [&](std::initializer_list<std::int64_t> values) {
            return p.make<tosa::const_shape>({.values = int_list(values)});
        };
        const auto& [h, w] = std::pair(r.h, r.w);
        value v =
            p.make<tosa::resize>({.input = p.input(dtype::int8, {r.batches, h.size, w.size, r.channels}),
                .scale = shape({h.n, h.d, w.n, w.d}),
                .offset = shape({h.offset, w.offset}),
                .border = shape({h.border(), w.border()}),
                .mode = r.mode});
        if (r.mode == resize_mode::nearest) return v;
        if (r.subtrahend != 0)
            v = p.make<tosa::sub>({v, integer_constant(p, dtype::int32, {1, 1, 1, 1}, {r.subtrahend})});
        return rescaled_by(p, v, r.scale);
    });
}
template <op_tag Op>
std::size_t count(const resizing& r) {
    return count_after<Op, convolve_resizes>(resized(r));
}

// For PyTorch's half pixels, aligned corners and factors.
constexpr axis doubled{5, 10, 4, 2, -1};
constexpr axis tripled{4, 12, 6, 2, -2};
constexpr axis by_three_halves{4, 6, 6, 4, -1};
constexpr axis halved{6, 3, 2, 4, 1};
constexpr axis thirds{9, 3, 2, 6, 2};
constexpr axis two_thirds{6, 4, 4, 6, 1};
constexpr axis aligned{3, 6, 10, 4, 0};
constexpr axis same{4, 4, 1, 1, 0};
constexpr axis single{1, 7, 14, 2, 0};
constexpr axis eight_times{3, 24, 16, 2, -7};
constexpr axis shifted{4, 10, 4, 2, -3};
constexpr axis inner{5, 4, 4, 2, 6};

}  // namespace

TEST_CASE("interpolated images are one convolution") {
    const axis axes[] = {
        doubled, tripled, by_three_halves, halved, thirds, two_thirds, aligned, same, single, shifted, inner};
    for (const axis& h : axes) {
        for (const axis& w : axes) {
            CAPTURE(h.n, h.d, w.n, w.d);
            const resizing r{h, w};
            CHECK_THAT(resized(r), computes_the_same<convolve_resizes>().within(0));
            CHECK(count<tosa::depthwise_conv2d>(r) == 1);
        }
    }
}

TEST_CASE("images of a batch, one channel, and scales that are no power of two") {
    for (const std::int64_t batches : {1, 2, 3}) {
        for (const std::int64_t channels : {1, 4}) {
            resizing r{doubled, by_three_halves, resize_mode::bilinear, batches, channels};
            CHECK_THAT(resized(r), computes_the_same<convolve_resizes>().within(0));
            r.scale.multipliers = {1834567891};
            CHECK_THAT(resized(r), computes_the_same<convolve_resizes>().within(0));
        }
    }
}

TEST_CASE("halves are rounded as by RESCALE, also by the kernel") {
    for (const axis& w : {doubled, halved, axis{4, 16, 8, 2, -3}}) {
        resizing r{doubled, w};
        r.scale.shift = 30 + (w.n == 8 ? 5 : w.n == 4 ? 4 : 3);
        CHECK_THAT(resized(r), (computes_the_same<convolve_resizes, select_convolutions>().within(0)));
    }
    resizing r{doubled, doubled};
    r.subtrahend = 16 * -17;
    CHECK_THAT(resized(r), (computes_the_same<convolve_resizes, select_convolutions>().within(0)));
    CHECK(count<tosa::sub>(r) == 0);
}

TEST_CASE("weights that are too large, or too many, and sums of fractions stay") {
    const axis coprime{15, 17, 34, 30, -2}, aligned_twice{20, 40, 78, 38, 0};
    for (const resizing& r : {resizing{eight_times, eight_times}, resizing{coprime, coprime},
             resizing{aligned_twice, doubled}, resizing{.h = aligned, .w = aligned, .subtrahend = 3}}) {
        CHECK_THAT(resized(r), is_left_alone_by<convolve_resizes>());
    }
}

TEST_CASE("the nearest elements are repeated, or picked") {
    const axis floored{5, 10, 4, 2, -2}, uneven{5, 7, 14, 10, -7}, reduced{7, 3, 6, 14, -3};
    for (const axis& h : {floored, uneven, reduced, tripled, aligned, single, same, inner}) {
        for (const axis& w : {floored, uneven, reduced, halved, same}) {
            for (const std::int64_t batches : {1, 2}) {
                CAPTURE(h.n, h.d, w.n, w.d);
                const resizing r{h, w, resize_mode::nearest, batches};
                if (h.n != 1 || w.n != 1)
                    CHECK_THAT(resized(r), computes_the_same<convolve_resizes>().within(0));
            }
        }
    }
    const resizing r{floored, tripled, resize_mode::nearest};
    CHECK(count<tosa::tile>(r) == 1);
    CHECK(count<aten::index_select>({floored, uneven, resize_mode::nearest}) == 2);
    CHECK(count<aten::index_select>({same, uneven, resize_mode::nearest}) == 1);
}
