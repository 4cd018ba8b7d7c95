// SPDX-License-Identifier: MIT
// Tests how real numbers and quantized values are derived from a graph: constants of any strides, scales of
// channels that move, the scale in which sums are computed.
#include <cmath>
#include <limits>

#include <catch2/catch.hpp>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/passes/quantize/fixed_point.hpp>

#include "../../support/quantized_test.hpp"

using namespace headrace;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr coding a = int8_codes(0.05, 3);

/// A program at whose end passes can emit nodes.
struct workplace {
    program p;
    pass_context context;
    std::optional<emission> made;
    emit<joined<fixed_point_ops, dequantize_ops>> at(value v) {
        node& end = p.g.create<builtin::output>({.values = {v}});
        return emit<joined<fixed_point_ops, dequantize_ops>>(made.emplace(p.g, &end, &end, context));
    }
};
using reals = pmr_vector<double>;
using integers = pmr_vector<std::int64_t>;

/// Returns the quantization of `move(program&, value)` for quantized values with a scale for each index of an
/// axis.
template <class Move>
std::optional<quantization> moved(const int_list& shape, std::int64_t axis, const Move& move) {
    workplace w;
    const auto count = static_cast<std::size_t>(shape[static_cast<std::size_t>(axis)]);
    reals scales;
    integers zeros;
    for (std::size_t i = 0; i != count; ++i) {
        scales.push_back(static_cast<double>(i + 1));
        zeros.push_back(static_cast<std::int64_t>(i));
    }
    const value codes = w.p.input(dtype::int8, shape);
    const value v = move(w.p,
        real_per_channel(w.p, codes, {scales.begin(), scales.end()}, axis, {zeros.begin(), zeros.end()}));
    auto e = w.at(v);
    const auto read = as_dequantized(e, v);
    if (!read) return std::nullopt;
    CHECK(meta_of(read->integers)->shape == meta_of(v)->shape);
    CHECK(meta_of(read->integers)->dtype == dtype::int8);
    return read->parameters;
}
bool has_channels(const std::optional<quantization>& q, std::size_t axis, const reals& scales) {
    integers zeros;
    for (const double s : scales) zeros.push_back(static_cast<std::int64_t>(s) - 1);
    return q && q->axis == axis && q->scales == scales && q->zero_points == zeros;
}

}  // namespace

TEST_CASE("codes of numbers") {
    const auto q = quantization::per_tensor(0.5, 3, -128, 127);
    const std::pair<double, std::int64_t> cases[] = {{0, 3}, {0.5, 4}, {0.25, 3}, {0.75, 5}, {-0.25, 3},
        {-0.75, 1}, {62, 127}, {62.5, 127}, {1e30, 127}, {-65.5, -128}, {-1e30, -128}, {infinity, 127},
        {-infinity, -128}};
    for (const auto& [real, code] : cases) {
        CAPTURE(real);
        CHECK(q.quantized(real) == code);
    }
    CHECK(q.quantized(std::nan("")) == 0);
    CHECK(q.reach() == 131);
    CHECK(quantization::per_tensor(1, -128, -128, 127).reach() == 255);
    CHECK(quantization{{1, 1}, {-100, 50}, 0, -128, 127}.reach() == 227);
    // Like evaluation, for scales that floats cannot represent.
    for (const coding& c : {a, weight_codes(0.0037, 5), int16_codes(1e-4)}) {
        program p;
        output_in(p, p.input(dtype::float32, {500}), c);
        p.finish();
        std::mt19937 random(1);
        const tensor x = random_tensor(random, {dtype::float32, {500}, {}});
        const auto codes = run_graph(p.g, std::vector{x});
        REQUIRE(codes);
        const auto own = quantization::per_tensor(c.scale, c.zero_point, c.lowest, c.highest);
        for (std::int64_t i = 0; i != 500; ++i)
            CHECK(own.quantized(x.real(i)) == codes.value()[0].integer(i));
    }
}

TEST_CASE("numbers that are codes, and those next to them") {
    const auto q = quantization::per_tensor(0.1, -4, -128, 127);
    CHECK(q.exact(0) == -4);
    CHECK(q.exact(0.3) == -1);
    CHECK(q.exact(-1.2) == -16);
    CHECK(!q.exact(0.35));
    CHECK(!q.exact(0.3001));
    CHECK(!q.exact(-12.36));  // the lowest value is nearest
    CHECK(q.exact(-12.4) == -128);
    CHECK(!q.exact(-12.45));
    CHECK(q.exact_bound(-12.45) == -128);
    CHECK(!q.exact(1e30));
    CHECK(q.exact_bound(1e30) == 127);
    CHECK(!q.exact_bound(0.3001));
    CHECK(q.exact(infinity) == 127);
    CHECK(q.exact(-infinity) == -128);
    CHECK(!q.exact(std::nan("")));
    CHECK(q.nearest(0.3001) == -1);
    CHECK(q.nearest(-12.36) == -128);
    CHECK(q.nearest(1e30) == 127);
    CHECK(!q.nearest(std::nan("")));
}

TEST_CASE("the range of a type") {
    CHECK(range_of(dtype::int8) == std::pair<std::int64_t, std::int64_t>{-128, 127});
    CHECK(range_of(dtype::uint8) == std::pair<std::int64_t, std::int64_t>{0, 255});
    CHECK(range_of(dtype::int16) == std::pair<std::int64_t, std::int64_t>{-32768, 32767});
    CHECK(range_of(dtype::int32) == std::pair<std::int64_t, std::int64_t>{-2147483648, 2147483647});
}

TEST_CASE("constants are read in row-major order, whatever their strides") {
    program p;
    static constexpr float stored[] = {1, 3, 5, 2, 4, 6};
    static constexpr double wide[] = {0.1, -infinity};
    static constexpr std::int16_t narrow[] = {-7, 8, 9};
    const auto constant = [&](const void* data, dtype type, const int_list& shape, const int_list& strides) {
        const value v =
            p.g.create<builtin::constant>({.data = {static_cast<const std::byte*>(data), strides}}).result();
        p.g.set_meta(v, {type, shape, {}});
        return v;
    };
    CHECK(constant_reals(constant(stored, dtype::float32, {3, 2}, {1, 3})) == reals{1, 2, 3, 4, 5, 6});
    CHECK(constant_reals(constant(stored, dtype::float32, {3, 2}, {2, 1})) == reals{1, 3, 5, 2, 4, 6});
    CHECK(constant_reals(constant(stored, dtype::float32, {3, 2}, {})) == reals{1, 3, 5, 2, 4, 6});
    CHECK(constant_reals(constant(stored, dtype::float32, {2, 2}, {0, 1})) == reals{1, 3, 1, 3});
    CHECK(constant_reals(constant(stored, dtype::float32, {}, {})) == reals{1});
    CHECK(constant_reals(constant(wide, dtype::float64, {2}, {1})) == reals{0.1, -infinity});
    CHECK(constant_reals(constant(narrow, dtype::int16, {3}, {1})) == reals{-7, 8, 9});
    CHECK(constant_integers(constant(narrow, dtype::int16, {1, 2}, {3, 2})) == integers{-7, 9});
    CHECK(!constant_integers(constant(stored, dtype::float32, {3, 2}, {2, 1})));
    CHECK(!constant_reals(constant(narrow, dtype::float16, {3}, {1})));
    CHECK(!constant_reals(p.input(dtype::float32, {2})));
}

TEST_CASE("scales of channels go along with their axis") {
    const auto view = [](const int_list& shape) {
        return [=](program& p, value v) { return p.make<aten::view>({v, shape}); };
    };
    const auto permute = [](program& p, value v) { return p.make<aten::permute>({v, {2, 0, -2}}); };
    CHECK(has_channels(moved({3, 4, 5}, 0, permute), 1, {1, 2, 3}));
    CHECK(has_channels(moved({3, 4, 5}, 1, permute), 2, {1, 2, 3, 4}));
    const auto transpose = [](program& p, value v) { return p.make<aten::transpose_int>({v, -1, 0}); };
    CHECK(has_channels(moved({3, 4, 5}, 0, transpose), 2, {1, 2, 3}));
    CHECK(has_channels(moved({3, 4, 5}, 1, transpose), 1, {1, 2, 3, 4}));
    CHECK(has_channels(
        moved({3, 2}, 0, [](program& p, value v) { return p.make<aten::t>({v}); }), 1, {1, 2, 3}));
    CHECK(has_channels(moved({3, 4, 5}, 0, view({3, 20})), 0, {1, 2, 3}));
    CHECK(has_channels(moved({3, 4, 5}, 1, view({3, 1, 4, 5})), 2, {1, 2, 3, 4}));
    CHECK(has_channels(moved({2, 6}, 1, view({2, 6, 1})), 1, {1, 2, 3, 4, 5, 6}));
    CHECK(has_channels(moved({3, 1}, 0,
                           [](program& p, value v) {
                               return p.make<aten::unsqueeze>({v, 0});
                           }),
        1, {1, 2, 3}));
    CHECK(has_channels(moved({1, 3}, 1,
                           [](program& p, value v) {
                               return p.make<aten::squeeze_dim>({v, 0});
                           }),
        0, {1, 2, 3}));
    // Merged, split or crossed, they are no longer an axis.
    CHECK(!moved({3, 4}, 0, view({12})));
    CHECK(!moved({3, 4}, 1, view({12})));
    CHECK(!moved({6, 4}, 0, view({2, 3, 4})));
    CHECK(!moved({3, 4}, 0, view({4, 3})));
}

TEST_CASE("scales of channels that are sliced") {
    const auto slice = [](std::int64_t axis, std::int64_t start, std::int64_t end, std::int64_t step) {
        return [=](program& p, value v) { return p.make<aten::slice_tensor>({v, axis, start, end, step}); };
    };
    CHECK(has_channels(moved({5, 4}, 0, slice(0, 1, 3, 1)), 0, {2, 3}));
    CHECK(has_channels(moved({5, 4}, 0, slice(-2, -2, 99, 1)), 0, {4, 5}));
    CHECK(has_channels(moved({5, 4}, 0, slice(1, 1, 3, 2)), 0, {1, 2, 3, 4, 5}));
    CHECK(!moved({5, 4}, 0, slice(0, 0, 5, 2)));
    const auto both = [&](program& p, value v) { return p.make<aten::t>({slice(0, 3, 5, 1)(p, v)}); };
    CHECK(has_channels(moved({5, 4}, 0, both), 1, {4, 5}));
}

TEST_CASE("scales of channels that are repeated or mixed are not read") {
    CHECK(!moved({3, 4}, 0, [](program& p, value v) { return p.make<aten::repeat>({v, {2, 1}}); }));
    CHECK(!moved({3, 4}, 0, [](program& p, value v) { return p.make<aten::flip>({v, {0}}); }));
    CHECK(!moved({3, 4}, 0, [](program& p, value v) { return p.make<aten::select_int>({v, 0, 1}); }));
    CHECK(!moved({3, 4}, 0, [](program& p, value v) { return p.make<aten::cat>({{v, v}, 0}); }));
    CHECK(!moved({3, 4}, 0, [](program& p, value v) { return p.make<aten::constant_pad_nd>({v, {1, 1}}); }));
    CHECK(!moved({3, 4}, 0, [](program& p, value v) { return p.make<aten::clamp>({v, scalar(0)}); }));
    CHECK(!moved({3, 4}, 0, [](program& p, value v) { return p.make<aten::exp>({v}); }));
}

TEST_CASE("joins and pads are read where they are codes") {
    workplace w;
    program& p = w.p;
    const value x = real_input(p, a, {2, 3});
    const value y = real_input(p, a, {2, 3});
    const value z = real_input(p, int8_codes(0.1), {2, 3});
    const value alike = p.make<aten::cat>({{x, y}, 0});
    const value apart = p.make<aten::cat>({{x, z}, 0});
    const value on_grid = p.make<aten::constant_pad_nd>({x, {1, 0}, 0.35});
    const value off_grid = p.make<aten::constant_pad_nd>({x, {1, 0}, 0.36});
    auto e = w.at(alike);
    CHECK(as_dequantized(e, alike)->parameters == quantization::per_tensor(0.05, 3, -128, 127));
    CHECK(!as_dequantized(e, apart));
    const auto padded = as_dequantized(e, on_grid);
    REQUIRE(padded);
    CHECK(args_of<aten::constant_pad_nd>(*padded->integers.producer).value.to_int() == 10);
    CHECK(!as_dequantized(e, off_grid));
    CHECK(!as_dequantized(e, p.input(dtype::float32, {2})));
    CHECK(!as_dequantized(e, p.input(dtype::int8, {2})));
}

TEST_CASE("clamps are read in codes of their own, or in finer ones where bounds lie between them") {
    workplace w;
    program& p = w.p;
    const value x = real_input(p, a, {2, 3});
    const value relu = p.make<aten::clamp>({x, scalar(0)});
    const value cut = p.make<aten::clamp>({x, scalar(-1.234), scalar(2.2)});
    const value wide = p.make<aten::clamp>({real_input(p, {1, 0, dtype::int32}, {2}), scalar(0.5)});
    auto e = w.at(relu);
    const auto same = as_dequantized(e, relu);
    REQUIRE(same);
    CHECK(same->parameters == quantization::per_tensor(0.05, 3, 3, 127));
    CHECK(meta_of(same->integers)->dtype == dtype::int8);
    const auto finer = as_dequantized(e, cut);
    REQUIRE(finer);
    CHECK(meta_of(finer->integers)->dtype == dtype::int32);
    const quantization& q = finer->parameters;
    CHECK(q.zero_point() == 0);
    CHECK(static_cast<double>(q.lowest) * q.scale() == Approx(-1.234).epsilon(1e-6));
    CHECK(static_cast<double>(q.highest) * q.scale() == Approx(2.2).epsilon(1e-6));
    CHECK(!as_dequantized(e, wide));  // there is no room for finer scales
    // Outside of the representable range, and with swapped bounds.
    CHECK(!as_dequantized(e, p.make<aten::clamp>({x, scalar(100)})));
    CHECK(!as_dequantized(e, p.make<aten::clamp>({x, scalar(2), scalar(1)})));
}

TEST_CASE("parameters of dequantizes") {
    program p;
    const value codes = p.input(dtype::int8, {3, 4});
    const auto tensor_wide = match_dequantize(real_of(p, codes, a));
    REQUIRE(tensor_wide);
    CHECK(tensor_wide->integers == codes);
    CHECK(tensor_wide->parameters == quantization::per_tensor(0.05, 3, -128, 127));
    const auto channels = match_dequantize(real_per_channel(p, codes, {1, 2, 3, 4}, -1));
    REQUIRE(channels);
    CHECK(channels->parameters == quantization{{1, 2, 3, 4}, {0, 0, 0, 0}, 1, -127, 127});
    CHECK(!match_dequantize(real_per_channel(p, codes, {1, 2, 3, 4}, 0)));
    CHECK(!match_dequantize(p.make<quantized_decomposed::dequantize_per_channel>(
        {codes, p.input(dtype::float32, {3}), std::nullopt, 0, -127, 127, dtype::int8, std::nullopt})));
    CHECK(!match_dequantize(p.input(dtype::float32, {3})));
}

TEST_CASE("the scale in which operands are added up") {
    workplace w;
    program& p = w.p;
    auto e = w.at(p.input(dtype::float32, {1}));
    const auto operand = [&](const coding& c) { return *as_fixed_point(e, real_input(p, c, {2})); };
    const auto scale_of = [&](const fixed_point& x, const fixed_point& y) {
        const double scale = working_scale(e, {&x, &y});
        // The sum of both has 30 bits.
        CHECK((x.reach() + y.reach()) / scale <= 1 << 30);
        return scale;
    };
    CHECK(scale_of(operand(a), operand(int8_codes(0.01))) == std::ldexp(0.05, -19));
    CHECK(scale_of(operand(int8_codes(0.01)), operand(a)) == std::ldexp(0.05, -19));
    CHECK(scale_of(operand(int16_codes(1e-4)), operand(int16_codes(2e-4))) == std::ldexp(2e-4, -14));
    const fixed_point number = *as_fixed_point(e, float_constant(p, {2}, {-700, 3}));
    CHECK(number.reach() == 700);
    CHECK(scale_of(operand(int8_codes(1)), number) == std::ldexp(1.0, -19));
    const fixed_point large = *as_fixed_point(e, float_constant(p, {2}, {1e6, 3}));
    CHECK(scale_of(operand(int8_codes(1)), large) == std::ldexp(1.0, -9));
    // Next to quantized values of 32 bits that already have room, these need no RESCALE.
    CHECK(scale_of(operand(int32_codes(1e-7)), operand(a)) == 1e-7);
    // Not so if they use 8 of their bits.
    const value narrow = p.input(dtype::int32, {2});
    const fixed_point few{dequantized{narrow, quantization::symmetric(0.05, 128)}};
    CHECK(scale_of(few, operand(int8_codes(0.01))) == std::ldexp(0.05, -19));
    CHECK(scale_of(operand(int32_codes(1)), operand(int8_codes(1e-3))) < 1);
    CHECK(!as_fixed_point(e, float_constant(p, {2}, {infinity, 1})));
    CHECK(!as_fixed_point(e, p.input(dtype::float32, {2})));
}
