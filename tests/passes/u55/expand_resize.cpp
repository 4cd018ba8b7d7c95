// SPDX-License-Identifier: MIT
// Tests that RESIZE is built from convolutions, slices and sums, with the same results.
#include <array>

#include <catch2/catch.hpp>

#include <headrace/passes/u55/expand_moves.hpp>
#include <headrace/passes/u55/expand_resize.hpp>
#include <headrace/passes/u55/expand_windows.hpp>

#include "../../support/u55_test.hpp"

using namespace headrace;

namespace {

/// Result o of `out` is at (o · d + offset) / n between `size` elements.
struct axis {
    std::int64_t size, out, n, d, offset;

    [[nodiscard]] std::int64_t border() const { return (out - 1) * d - (size - 1) * n + offset; }
};
value resize(program& p, value image, const axis& h, const axis& w, resize_mode mode) {
    const auto shape = [&](std::initializer_list<std::int64_t> values) {
        return p.make<tosa::const_shape>({.values = int_list(values)});
    };
    return p.make<tosa::resize>({.input = image,
        .scale = shape({h.n, h.d, w.n, w.d}),
        .offset = shape({h.offset, w.offset}),
        .border = shape({h.border(), w.border()}),
        .mode = mode});
}
struct image {
    std::int64_t batches = 1, channels = 2;
    dtype type = dtype::int8;
};
auto resized(const axis& h, const axis& w, resize_mode mode, const image& of = {}) {
    return [=](program& p) {
        return resize(p, p.input(of.type, {of.batches, h.size, w.size, of.channels}), h, w, mode);
    };
}
value rescaled(program& p, value v, dtype type) {
    const bool is_short = meta_of(v)->dtype == dtype::int48;
    return p.make<tosa::rescale>({.input = v,
        .multiplier = integer_constant(p, is_short ? dtype::int16 : dtype::int32, {1}, {1 << 14}),
        .shift = integer_constant(p, dtype::int8, {1}, {18}),
        .input_zp = integer_constant(p, meta_of(v)->dtype, {1}, {0}),
        .output_zp = integer_constant(p, type, {1}, {0}),
        .scale32 = !is_short});
}
template <op_tag Op, class... Passes>
std::size_t count(const result_builder& build) {
    return count_after<Op, Passes...>(for_u55_target(build));
}

// For PyTorch's half pixels, aligned corners and factors.
constexpr axis doubled{5, 10, 4, 2, -1};
constexpr axis tripled{4, 12, 6, 2, -2};
constexpr axis by_three_halves{4, 6, 6, 4, -1};
constexpr axis halved{6, 3, 2, 4, 1};
constexpr axis two_thirds{6, 4, 4, 6, 1};
constexpr axis aligned{3, 6, 10, 4, 0};
constexpr axis same{4, 4, 1, 1, 0};
constexpr axis single{1, 7, 14, 2, 0};
constexpr axis eight_times{3, 24, 16, 2, -7};
constexpr axis coprime{15, 17, 34, 30, -2};
constexpr axis quartered{16, 4, 2, 8, 3};

constexpr auto bilinear = resize_mode::bilinear;
constexpr auto nearest = resize_mode::nearest;

}  // namespace

TEST_CASE("interpolation is exact, whatever the factors") {
    const axis axes[] = {doubled, tripled, by_three_halves, halved, two_thirds, aligned, same, single,
        eight_times, coprime, quartered};
    for (const axis& h : axes) {
        for (const axis& w : axes) {
            CAPTURE(h.n, h.d, w.n, w.d);
            CHECK(expanded<expand_resize, expand_windows>(resized(h, w, bilinear)) == "");
        }
    }
}

TEST_CASE("offsets and borders beyond the image read its edge") {
    const axis shifted{4, 10, 4, 2, -3};
    const axis inner{5, 4, 4, 2, 6};
    CHECK(expanded<expand_resize>(resized(shifted, inner, bilinear, {2, 3})) == "");
    CHECK(expanded<expand_resize>(resized(inner, shifted, bilinear)) == "");
    CHECK(expanded<expand_resize>(resized(shifted, inner, nearest)) == "");
}

TEST_CASE("few channels are dense convolutions for each phase of the rows, many are depthwise") {
    const axis side{24, 48, 4, 2, -1};
    const auto narrow = resized(side, side, bilinear, {1, 8});
    CHECK(count<tosa::conv2d, expand_resize>(narrow) == 6);
    CHECK(count<tosa::depthwise_conv2d, expand_resize>(narrow) == 0);
    CHECK(expanded<expand_resize>(narrow) == "");
    const auto wide = resized(doubled, doubled, bilinear, {1, 300});
    CHECK(count<tosa::conv2d, expand_resize>(wide) == 0);
    CHECK(count<tosa::depthwise_conv2d, expand_resize>(wide) == 4);
    CHECK(expanded<expand_resize>(wide) == "");
    CHECK(expanded<expand_resize>(resized(halved, by_three_halves, bilinear, {2, 300})) == "");
}

TEST_CASE("weights that are too large for INT8 are divided, or are products") {
    const axis aligned_twice{5, 9, 16, 8, 0};  // all of its weights are multiples of 8
    const auto divided = resized(aligned_twice, aligned_twice, bilinear, {1, 3});
    CHECK(count<tosa::mul, expand_resize>(divided) == 1);
    CHECK(expanded<expand_resize>(divided) == "");
    const auto coprimes = resized(coprime, coprime, bilinear);
    CHECK(count<tosa::conv2d, expand_resize>(coprimes) == 0);
    CHECK(count<tosa::depthwise_conv2d, expand_resize>(coprimes) == 0);
}

TEST_CASE("a zero point that is subtracted is a bias") {
    const auto build = [](program& p) {
        const value image = resized(doubled, tripled, bilinear)(p);
        const value zero = integer_constant(p, dtype::int32, {1, 1, 1, 1}, {24 * -17});
        return rescaled(p, p.make<tosa::sub>({image, zero}), dtype::int8);
    };
    CHECK(expanded<expand_resize, rescale_before_moving>(build) == "");
    CHECK(count<tosa::sub, expand_resize>(build) == 0);
}

TEST_CASE("INT16 is accumulated in 48 bits and rescaled at once") {
    for (const axis& h : {doubled, halved, by_three_halves}) {
        const auto build = [&](program& p) {
            return rescaled(p, resized(h, doubled, bilinear, {1, 3, dtype::int16})(p), dtype::int16);
        };
        CHECK(expanded<expand_resize, rescale_before_moving>(build) == "");
    }
}

TEST_CASE("floats, which the target does not have, stay") {
    CHECK(
        count<tosa::resize, expand_resize>(resized(tripled, tripled, bilinear, {1, 2, dtype::float32})) == 1);
}

TEST_CASE("to the nearest") {
    const axis floored{5, 10, 4, 2, -2};
    const axis floored_by_eight{3, 24, 16, 2, -8};
    const axis uneven{5, 7, 14, 10, -7};
    const axis reduced{7, 3, 6, 14, -3};
    const axis long_one{60, 40, 4, 6, -2};
    for (const axis& h : {floored, floored_by_eight, uneven, reduced, tripled, aligned, single, long_one}) {
        for (const axis& w : {floored, uneven, halved, by_three_halves, same, long_one}) {
            for (const image& of : {image{}, image{2, 3}, image{1, 2, dtype::int16}}) {
                CAPTURE(h.n, h.d, w.n, w.d);
                CHECK(expanded<expand_resize, expand_windows, rescale_before_moving>(
                          resized(h, w, nearest, of)) == "");
            }
        }
    }
}

TEST_CASE("doubling one image to the nearest is the RESIZE that there is") {
    const axis floored{5, 10, 4, 2, -2};
    CHECK(count<tosa::resize, expand_resize>(resized(floored, floored, nearest)) == 1);
    CHECK(count<tosa::resize, expand_resize>(resized(floored, floored, nearest, {2, 2})) == 0);
    program p;
    CHECK(u55_fault(lowered<expand_resize>(p, for_u55_target(resized(doubled, doubled, nearest)))).empty());
    CHECK(count_of<tosa::resize>(p.g) == 1);
}
