// SPDX-License-Identifier: MIT
// Checks TOSA's functions of numbers against formulas of the specification in 64 bits, and that results lie
// within the bounds that their types state.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <utility>

#include <catch2/catch.hpp>

#include <headrace/on_device/functions.hpp>

#include "numbers.hpp"

namespace hr = headrace::on_device;
using hr::element;
using hr::rescaling;
using on_device_test::random_integer;

namespace {

using wide = std::int64_t;
wide wrapped(element e, wide v) {
    switch (e) {
        case element::int8:
            return static_cast<std::int8_t>(v);
        case element::uint8:
            return static_cast<std::uint8_t>(v);
        case element::int16:
            return static_cast<std::int16_t>(v);
        case element::uint16:
            return static_cast<std::uint16_t>(v);
        case element::boolean:
            return v != 0;
        default:
            return static_cast<std::int32_t>(v);
    }
}
template <class V>
void expect(V got, wide exact, const char* name, wide x, wide y = 0) {
    if (got.value != exact || got.value < V::bounds::lowest || got.value > V::bounds::highest)
        FAIL(name << "(" << x << ", " << y << ") = " << got.value << " of [" << V::bounds::lowest << ", "
                  << V::bounds::highest << "], not " << exact);
}
__extension__ using int128 = __int128;

wide scaled(const rescaling& s, wide stored) {
    const auto unsigned_range = [](element e, bool is_unsigned) {
        return is_unsigned && hr::lowest_of(e) < 0 ? (wide{1} << (8 * hr::bytes_of(e))) : wide{0};
    };
    const wide in = unsigned_range(s.input, s.input_unsigned),
               out = unsigned_range(s.output, s.output_unsigned);
    const wide value = (in != 0 && stored < 0 ? stored + in : stored) -
        (in != 0 && s.input_zero < 0 ? s.input_zero + in : s.input_zero);
    wide round = wide{1} << (s.shift - 1);
    if (s.rounds == hr::rounding::double_round && s.scale32 && s.shift > 31)
        round += value >= 0 ? 1 << 30 : -(1 << 30);
    wide result = static_cast<wide>((int128{value} * s.multiplier + round) >> s.shift);
    result += out != 0 && s.output_zero < 0 ? s.output_zero + out : s.output_zero;
    const wide lo = out != 0 ? 0 : hr::lowest_of(s.output),
               hi = out != 0 ? out - 1 : hr::highest_of(s.output);
    return wrapped(s.output, std::clamp(result, lo, hi));
}

/// A scale for each number: all types, multipliers that are powers of two, small or large, and shifts of all
/// sizes.
constexpr rescaling scale_of(std::uint32_t i) {
    std::uint32_t state = i * 2654435761U + 12345;
    const auto next = [&](std::uint32_t below) {
        state = state * 1664525U + 1013904223U;
        return static_cast<int>((state >> 8) % below);
    };
    constexpr element inputs[]{element::int8, element::int8, element::uint8, element::int16, element::uint16,
        element::int32, element::int32, element::int48};
    constexpr element outputs[]{
        element::int8, element::int8, element::uint8, element::int16, element::uint16, element::int32};
    rescaling s{.input = inputs[next(8)], .output = outputs[next(6)]};
    s.scale32 = s.input != element::int48 && next(3) != 0;
    s.rounds = static_cast<hr::rounding>(next(4) == 0 ? next(3) : 0);
    s.shift = 2 + next(s.scale32 ? 61 : 40);
    s.multiplier = s.scale32 ? (1 << 30) + next(1 << 22) * 255 : (1 << 14) + next(1 << 14);
    if (next(4) == 0) s.multiplier = 1 << next(s.scale32 ? 31 : 15);
    if (next(6) == 0) s.multiplier = next(100);
    if (s.input == element::int8) {
        s.input_unsigned = next(4) == 0;
        s.input_zero = next(256) - 128;
    } else if (s.input == element::uint8) {
        s.input_zero = next(256);
    } else if (s.input == element::int16 && next(4) == 0) {
        s.input_unsigned = true;
        s.input_zero = next(2) * -32768;
    }
    if (s.output == element::int8) {
        s.output_unsigned = next(4) == 0;
        s.output_zero = next(256) - 128;
    } else if (s.output == element::uint8) {
        s.output_zero = next(256);
    } else if (s.output == element::int16 && next(4) == 0) {
        s.output_unsigned = true;
        s.output_zero = next(2) * -32768;
    }
    return s;
}
int seen[7]{};
template <rescaling S>
void check_scale(std::mt19937& random) {
    INFO("from " << static_cast<int>(S.input) << " to " << static_cast<int>(S.output) << ", multiplier "
                 << S.multiplier << ", shift " << S.shift << ", zero points " << S.input_zero << " and "
                 << S.output_zero << ", rounding " << static_cast<int>(S.rounds) << ", scale32 " << S.scale32
                 << ", unsigned " << S.input_unsigned << S.output_unsigned);
    constexpr auto plan = hr::detail::plan_scale(S, hr::lowest_of(S.input), hr::highest_of(S.input));
    ++seen[static_cast<int>(plan.form)];
    for (int i = 0; i != 400; ++i) {
        const auto x = static_cast<hr::element_t<S.input>>(i < 256 && hr::bytes_of(S.input) == 1
                ? i + hr::lowest_of(S.input)
                : random_integer(random, hr::lowest_of(S.input), hr::highest_of(S.input)));
        const auto number = hr::load<S.input>(&x);
        expect(hr::rescale<S>(number), scaled(S, x), "rescale", x, S.multiplier);
        const hr::number<0, INT32_MAX> multiplier{S.multiplier};
        const hr::number<1, 62> shift{S.shift};
        expect(
            hr::rescale<S>(number, multiplier, shift), scaled(S, x), "rescale by channel", x, S.multiplier);
    }
}

/// Functions of numbers with these bounds.
template <wide ALo, wide AHi, wide BLo, wide BHi, element E>
void check_functions(std::mt19937& random) {
    for (int i = 0; i != 3000; ++i) {
        const wide x = random_integer(random, ALo, AHi), y = random_integer(random, BLo, BHi);
        const hr::number<ALo, AHi> a{static_cast<std::int32_t>(x)};
        const hr::number<BLo, BHi> b{static_cast<std::int32_t>(y)};
        const auto i32 = [](wide v) { return wrapped(element::int32, v); };
        expect(hr::add(a, b), i32(x + y), "add", x, y);
        expect(hr::sub(a, b), i32(x - y), "sub", x, y);
        expect(hr::mul(a, b), i32(x * y), "mul", x, y);
        expect(hr::mul<7>(a, b), i32((x * y + 64) >> 7), "mul<7>", x, y);
        expect(hr::mul<31>(a, b), i32((x * y + (wide{1} << 30)) >> 31), "mul<31>", x, y);
        expect(hr::mul<40>(a, b), i32((x * y + (wide{1} << 39)) >> 40), "mul<40>", x, y);
        expect(hr::mul<62>(a, b), i32((x * y + (wide{1} << 61)) >> 62), "mul<62>", x, y);
        expect(hr::intdiv(a, b), y == 0 ? 0 : i32(x / y), "intdiv", x, y);
        expect(hr::maximum(a, b), std::max(x, y), "maximum", x, y);
        expect(hr::minimum(a, b), std::min(x, y), "minimum", x, y);
        expect(hr::clamp<-100, 90>(a), std::clamp<wide>(x, -100, 90), "clamp", x);
        expect(hr::abs(a), i32(x < 0 ? -x : x), "abs", x);
        expect(hr::negate<3, -4, E>(a), std::clamp(-1 - x, hr::lowest_of(E), hr::highest_of(E)), "negate", x);
        expect(hr::bitwise_and(a, b), x & y, "bitwise_and", x, y);
        expect(hr::bitwise_or(a, b), x | y, "bitwise_or", x, y);
        expect(hr::bitwise_xor(a, b), x ^ y, "bitwise_xor", x, y);
        expect(hr::bitwise_not(a), ~x, "bitwise_not", x);
        expect(hr::equal(a, b), x == y, "equal", x, y);
        expect(hr::greater(a, b), x > y, "greater", x, y);
        expect(hr::greater_equal(a, b), x >= y, "greater_equal", x, y);
        expect(hr::select(hr::equal(a, b), a, b), y, "select", x, y);
        expect(hr::select(hr::greater(a, b), a, b), std::max(x, y), "select", x, y);
        expect(hr::clz(a), x < 0 ? 0 : x == 0 ? 32 : 31 - std::ilogb(static_cast<double>(x)), "clz", x);
        expect(hr::cast<element::int8>(a), wrapped(element::int8, x), "cast<int8>", x);
        expect(hr::cast<element::int16>(a), wrapped(element::int16, x), "cast<int16>", x);
        expect(hr::cast<element::int32>(a), x, "cast<int32>", x);
        expect(hr::cast<element::boolean>(a), x != 0, "cast<boolean>", x);
        CHECK(hr::cast<element::float32>(a) == static_cast<float>(x));
        const int bits = 8 * hr::bytes_of(E), by = static_cast<int>(random() % static_cast<unsigned>(bits));
        const hr::number<0, 31> s{by};
        const hr::number<-128, 127> unknown{by};
        const int far = 32 + static_cast<int>(random() % 32);
        const hr::number<-128, 127> beyond{far};
        const wide mask = (wide{1} << bits) - 1, odd = by == 0 ? 0 : (x >> (by - 1)) & 1;
        expect(hr::arithmetic_right_shift(a, s), x >> by, "arithmetic_right_shift", x, by);
        expect(hr::arithmetic_right_shift<true>(a, unknown), (x >> by) + odd, "rounding shift", x, by);
        expect(hr::logical_left_shift<E>(a, unknown), wrapped(E, x << by), "logical_left_shift", x, by);
        expect(hr::logical_right_shift<E>(a, s), wrapped(E, (x & mask) >> by), "logical_right_shift", x, by);
        // TOSA allows no such distances: they give what the evaluator gives.
        const wide last = (x >> (far - 1)) & 1;
        expect(hr::arithmetic_right_shift<true>(a, beyond), (x >> far) + last, "rounding shift", x, far);
        expect(hr::arithmetic_right_shift(a, beyond), x >> far, "arithmetic_right_shift", x, far);
        expect(hr::logical_left_shift<E>(a, beyond), 0, "logical_left_shift", x, far);
        expect(hr::logical_right_shift<E>(a, beyond), 0, "logical_right_shift", x, far);
    }
}

}  // namespace

namespace {
/// A hundred scales: clang expands no more than 256 at once.
template <std::uint32_t First>
void check_scales(std::mt19937& random) {
    [&]<std::uint32_t... I>(std::integer_sequence<std::uint32_t, I...>) {
        (check_scale<scale_of(First + I)>(random), ...);
    }(std::make_integer_sequence<std::uint32_t, 100>());
}
}  // namespace

TEST_CASE("RESCALE is exact in each form") {
    std::mt19937 random(1);
    check_scales<0>(random);
    check_scales<100>(random);
    check_scales<200>(random);
    check_scales<300>(random);
    check_scales<400>(random);
    check_scales<500>(random);
    for (const int n : seen) CHECK(n > 5);
}

TEST_CASE("Functions of numbers are exact, and their bounds hold") {
    std::mt19937 random(2);
    check_functions<-128, 127, -128, 127, element::int8>(random);
    check_functions<-32768, 32767, -32768, 32767, element::int16>(random);
    check_functions<INT32_MIN, INT32_MAX, INT32_MIN, INT32_MAX, element::int32>(random);
    check_functions<0, 100, -7, 9, element::int8>(random);
    check_functions<-128, -3, 5, 9, element::int8>(random);
    check_functions<0, 1, 0, 1, element::int8>(random);
    check_functions<-1000000, 5, INT32_MIN, 0, element::int32>(random);
}

TEST_CASE("Booleans are numbers") {
    for (int x = 0; x != 2; ++x) {
        for (int y = 0; y != 2; ++y) {
            const hr::number<0, 1> a{x}, b{y};
            expect(hr::logical_and(a, b), x & y, "and", x, y);
            expect(hr::logical_or(a, b), x | y, "or", x, y);
            expect(hr::logical_xor(a, b), x ^ y, "xor", x, y);
            expect(hr::logical_not(a), 1 - x, "not", x);
        }
    }
}

TEST_CASE("Tables look up or interpolate") {
    std::mt19937 random(3);
    std::int8_t small[256];
    std::int16_t large[513];
    for (auto& e : small) e = static_cast<std::int8_t>(random());
    for (auto& e : large) e = static_cast<std::int16_t>(random());
    large[0] = -32768;
    large[1] = 32767;
    for (int x = -128; x != 128; ++x)
        expect(hr::table(hr::number<-128, 127>{x}, small), small[x + 128], "table", x);
    for (int x = -32768; x != 32768; ++x) {
        const int at = (x >> 7) + 256, rest = x & 127;
        expect(hr::table(hr::number<-32768, 32767>{x}, large),
            large[at] * (128 - rest) + large[at + 1] * rest, "table", x);
    }
}

TEST_CASE("Floats become the nearest integers") {
    const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
    for (const float x : {0.F, 0.5F, 1.5F, -0.5F, -1.5F, 126.5F, 127.5F, -128.5F, 32767.4F, -40000.F, 3e9F,
             -3e9F, 2147483520.F, -2147483648.F, inf, -inf}) {
        const auto nearest = [&](double lo, double hi) {
            return static_cast<wide>(std::clamp(std::nearbyint(static_cast<double>(x)), lo, hi));
        };
        expect(hr::cast<element::int8>(x), nearest(-128, 127), "cast", 0);
        expect(hr::cast<element::int16>(x), nearest(-32768, 32767), "cast", 0);
        expect(hr::cast<element::int32>(x), nearest(INT32_MIN, INT32_MAX), "cast", 0);
    }
    CHECK(hr::cast<element::int8>(nan).value == 0);
    CHECK(hr::cast<element::float32>(1.5F) == 1.5F);
    CHECK(hr::cast<element::boolean>(0.1F).value == 1);
}

TEST_CASE("Functions of floats treat NaN as the mode says") {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    using hr::nan_mode;
    CHECK(std::isnan(hr::maximum(nan, 1.F)));
    CHECK(std::isnan(hr::maximum(1.F, nan)));
    CHECK(std::isnan(hr::minimum(1.F, nan)));
    CHECK(hr::maximum<nan_mode::ignore>(nan, 1.F) == 1);
    CHECK(hr::minimum<nan_mode::ignore>(1.F, nan) == 1);
    CHECK(hr::maximum(2.F, 1.F) == 2);
    CHECK(hr::minimum<nan_mode::ignore>(2.F, 1.F) == 1);
    CHECK(std::isnan(hr::clamp(nan, 0.F, 1.F)));
    CHECK(hr::clamp<nan_mode::ignore>(nan, 0.F, 1.F) == 0);
    CHECK(hr::clamp(3.F, 0.F, 1.F) == 1);
    CHECK(hr::select(hr::greater(1.F, 2.F), 3.F, 4.F) == 4);
    CHECK(hr::equal(nan, nan).value == 0);
    CHECK(hr::greater_equal(nan, nan).value == 0);
    CHECK(hr::negate(hr::abs(hr::sub(hr::mul(2.F, 3.F), hr::add(4.F, 5.F)))) == -3);
}

static_assert(decltype(hr::add(hr::constant<3>, hr::number<-2, 5>{}))::bounds::highest == 8);
static_assert(hr::rescale<rescaling{}>(hr::constant<7>).value == 7);
