// SPDX-License-Identifier: MIT
// Tests that convolutions whose channels are only sliced become one convolution per slice.
#include <catch2/catch.hpp>

#include <headrace/passes/npu/convolution_groups.hpp>

#include "../../support/npu_test.hpp"

using namespace headrace;

namespace {

static_assert(effects_of<split_convolutions>::sound);

value sliced(program& p, value v, const int_list& start, const int_list& size) {
    return p.make<tosa::slice>({.input1 = v,
        .start = p.make<tosa::const_shape>({.values = start}),
        .size = p.make<tosa::const_shape>({.values = size})});
}
value reshaped(program& p, value v, const int_list& shape) {
    return p.make<tosa::reshape>({.input1 = v, .shape = p.make<tosa::const_shape>({.values = shape})});
}

/// Rows of a linear layer, [1, 1, rows, features], parts of which are queries, keys and values.
struct attention {
    std::int64_t rows = 5, inputs = 4, parts = 3, heads = 2, size = 8;
    bool has_factors = true, is_clamped = false, is_read_twice = false, cuts_heads = false, cuts_rows = false;
    std::int64_t input_zero = 5, weight_zero = -3, output_zero = -7;
};
value joint(program& p, const attention& a) {
    const std::int64_t features = a.parts * a.heads * a.size;
    const int_list image{1, 1, a.rows, a.inputs};
    const value sums = convolved_by(p, p.input(dtype::int8, image),
        {.image = image,
            .weight = {features, 1, 1, a.inputs},
            .input_zero = a.input_zero,
            .weight_zero = a.weight_zero});
    rescaling_of scale{.shift = 37, .output_zero = a.output_zero, .to = dtype::int8};
    if (a.has_factors) {
        scale.multipliers.clear();
        for (std::int64_t i = 0; i != features; ++i) scale.multipliers.push_back((1 << 30) + 1000003 * i);
    }
    value v = rescaled_by(p, sums, scale);
    if (a.is_clamped) v = p.make<tosa::clamp>({.input = v, .min_val = -90, .max_val = 110});
    return v;
}
npu_builder attended(const attention& a) {
    return [=](program& p) {
        p.g.set_target(u85_npu);
        const value v = reshaped(p, joint(p, a), {a.rows, a.parts, a.heads, a.size});
        const value moved = p.make<tosa::transpose>({.input1 = v, .perms = {1, 2, 0, 3}});
        if (a.is_read_twice) p.output(moved);
        for (std::int64_t i = 0; i != a.parts; ++i) {
            const std::int64_t heads = a.cuts_heads ? 1 : a.heads;
            const std::int64_t rows = a.cuts_rows ? a.rows - 1 : a.rows;
            p.output(sliced(p, moved, {i, 0, 0, 0}, {1, heads, rows, a.size}));
        }
    };
}

/// An image's channels in two halves of any size, optionally NCHW, looked up in a table.
struct gates {
    int_list image{1, 3, 4, 5};
    std::int64_t first = 32, second = 16;
    bool is_first_plane = true, is_tabulated = true, overlaps = false;
};
npu_builder gated(const gates& s) {
    return [=](program& p) {
        p.g.set_target(u55_npu);
        const std::int64_t channels = s.first + s.second;
        const value sums = convolved_by(p, p.input(dtype::int8, s.image),
            {.image = s.image, .weight = {channels, 3, 3, s.image[3]}, .pad = {1, 1, 1, 1}});
        value v = rescaled_by(p, sums, {.shift = 38, .to = dtype::int8});
        if (s.is_tabulated) {
            std::vector<std::int64_t> entries;
            for (std::int64_t i = 0; i != 256; ++i) entries.push_back((i * 37) % 251 - 125);
            v = p.make<tosa::table>({.input1 = v, .table = integer_constant(p, dtype::int8, {256}, entries)});
        }
        if (s.is_first_plane) v = p.make<tosa::transpose>({.input1 = v, .perms = {0, 3, 1, 2}});
        const std::size_t axis = s.is_first_plane ? 1 : 3;
        int_list shape = meta_of(v)->shape;
        const auto part = [&](std::int64_t start, std::int64_t count) {
            std::vector<std::int64_t> starts(4, 0), sizes_of(shape.begin(), shape.end());
            starts[axis] = start;
            sizes_of[axis] = count;
            p.output(sliced(p, v, int_list(sizes(starts)), int_list(sizes(sizes_of))));
        };
        part(0, s.first + (s.overlaps ? 1 : 0));
        part(s.first, s.second);
    };
}

}  // namespace

TEST_CASE("queries, keys and values of any size") {
    for (unsigned seed = 0; seed != 8; ++seed) {
        random_numbers any(seed);
        INFO(seed);
        const npu_builder build = attended({.rows = any(1, 6),
            .inputs = any(1, 6),
            .parts = any(2, 4),
            .heads = any(1, 4),
            .size = 8 * any(1, 2),
            .has_factors = any(0, 1) == 1,
            .is_clamped = any(0, 1) == 1,
            .input_zero = any(-128, 127),
            .weight_zero = any(-128, 127),
            .output_zero = any(-128, 127)});
        CHECK_THAT(build, computes_the_same<split_convolutions>().within(0));
    }
    CHECK(count_after<tosa::conv2d, split_convolutions>(attended({})) == 3);
}

TEST_CASE("halves of an image's channels, first or last") {
    for (const gates& s :
        {gates{}, gates{.first = 16, .is_first_plane = false}, gates{.first = 24, .is_tabulated = false}}) {
        CHECK_THAT(gated(s), computes_the_same<split_convolutions>().within(0));
        CHECK(count_after<tosa::conv2d, split_convolutions>(gated(s)) == 2);
    }
}

TEST_CASE("channels that are read twice, or cut within, and parts that fill no lanes stay") {
    for (const npu_builder& build :
        {attended({.is_read_twice = true}), attended({.cuts_heads = true}), attended({.cuts_rows = true}),
            gated({.overlaps = true}), gated({.first = 8}), gated({.first = 8, .is_first_plane = false}),
            gated({.image = {1, 3, 4, 64}, .first = 1, .second = 1})}) {
        CHECK_THAT(build, is_left_alone_by<split_convolutions>());
    }
}

TEST_CASE("it is for targets that multiply faster than they move") {
    CHECK(runs_for<split_convolutions>(u85_npu));
    CHECK(runs_for<split_convolutions>(u55_npu));
    CHECK_FALSE(runs_for<split_convolutions>(integer_target));
}
