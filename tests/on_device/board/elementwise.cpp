// SPDX-License-Identifier: MIT
// Compares the element-wise kernels of a core with the portable functions, one element after the other, on
// the core; prints how many results differ, and the instructions of a residual sum.
#include <bit>
#include <cstdint>

#include <headrace/on_device/elementwise.hpp>
#include <headrace/on_device/move.hpp>

#include "board.hpp"

namespace hr = headrace::on_device;
using hr::dense;
using hr::element;
using hr::rescaling;
using hr::tensor;

namespace {

std::uint32_t state = 1;
std::uint32_t next() { return state = state * 1664525U + 1013904223U; }
int differences = 0, compared = 0;

std::int8_t entries[256];
std::int16_t wide_entries[513];

// Expressions of two operands x and y: int8, int16, int32 or booleans.
struct residual {
    static constexpr rescaling a{
        .output = element::int32, .multiplier = 1 << 30, .shift = 11, .input_zero = -5};
    static constexpr rescaling b{
        .output = element::int32, .multiplier = 1181043519, .shift = 12, .input_zero = -128};
    static constexpr rescaling c{
        .input = element::int32, .multiplier = 1814993540, .shift = 50, .output_zero = -25};
    static constexpr auto of(auto x, auto y) {
        return hr::clamp<-25, 127>(hr::rescale<c>(hr::add(hr::rescale<a>(x), hr::rescale<b>(y))));
    }
};
struct arithmetic {
    static constexpr auto of(auto x, auto y) {
        const auto sum = hr::add(hr::sub(x, y), hr::mul(x, y));
        const auto bits = hr::bitwise_xor(hr::bitwise_and(x, y), hr::bitwise_or(hr::bitwise_not(x), y));
        return hr::add(hr::maximum(sum, bits), hr::minimum(hr::abs(x), hr::intdiv(x, y)));
    }
};
struct shifts {
    static constexpr auto of(auto x, auto y) {
        const auto by = hr::bitwise_and(y, hr::constant<7>);
        const auto a = hr::arithmetic_right_shift<true>(x, by);
        const auto b = hr::logical_left_shift<element::int8>(x, by);
        return hr::add(hr::add(a, b), hr::add(hr::logical_right_shift<element::int16>(x, by), hr::clz(y)));
    }
};
struct choices {
    static constexpr auto of(auto x, auto y) {
        const auto c = hr::logical_or(hr::equal(x, y), hr::logical_not(hr::greater(x, y)));
        return hr::select(hr::logical_xor(c, hr::greater_equal(y, hr::constant<3>)), x, hr::constant<77>);
    }
};
struct comparison {
    static constexpr auto of(auto x, auto y) { return hr::greater_equal(x, y); }
};
struct tables {
    static constexpr auto of(auto x, auto y) {
        const auto small = hr::table(hr::cast<element::int8>(x), entries);
        return hr::add(
            hr::negate<1, 2, element::int8>(small), hr::table(hr::cast<element::int16>(y), wide_entries));
    }
};
struct scales {
    static constexpr rescaling exact{
        .input = element::int32, .output = element::int32, .multiplier = 1234567890, .shift = 31};
    static constexpr rescaling twice{.input = element::int32,
        .output = element::int16,
        .multiplier = 1534567890,
        .shift = 37,
        .output_zero = 0,
        .rounds = hr::rounding::double_round};
    static constexpr rescaling narrow{.input = element::int32,
        .output = element::int8,
        .multiplier = 21234,
        .shift = 21,
        .output_zero = 5,
        .scale32 = false};
    static constexpr auto of(auto x, auto y) {
        return hr::add(hr::rescale<exact>(x), hr::add(hr::rescale<twice>(y), hr::rescale<narrow>(x)));
    }
};
struct by_channel {
    static constexpr rescaling s{
        .input = element::int32, .output = element::int8, .input_zero = 0, .output_zero = 3};
    static constexpr auto of(auto x, auto y) {
        return hr::rescale<s>(x, hr::maximum(y, hr::constant<1>), hr::constant<40>);
    }
};
struct reals {
    static constexpr auto of(auto x, auto y) {
        const auto a = hr::mul(hr::cast<element::float32>(x), 0.01F);
        const auto b = hr::cast<element::float32>(y);
        const auto c = hr::select(hr::greater(a, b), hr::tanh(a), hr::maximum(hr::sigmoid(b), 0.25F));
        return hr::cast<element::int8>(hr::mul(hr::clamp(hr::add(c, hr::negate(a)), -1.F, 1.F), 100.F));
    }
};
struct small_reals {
    static constexpr auto of(auto x, auto y) {
        const auto a = hr::mul(hr::cast<element::float16>(x), 0.01F);
        const auto b = hr::cast<element::bfloat16>(hr::cast<element::float32>(y));
        return hr::cast<element::int8>(hr::cast<element::float16>(hr::add(a, b)));
    }
};

constexpr std::int32_t most = 96;

template <class F, element O, element A, element B, std::int32_t N, bool IsBroadcast>
void compare() {
    alignas(16) static hr::element_t<A> x[most];
    alignas(16) static hr::element_t<B> y[most];
    alignas(16) static hr::element_t<O> got[most], expected[most];
    for (std::int32_t i = 0; i != most; ++i) {
        x[i] = static_cast<hr::element_t<A>>(next() >> (8 + next() % 24));
        y[i] = static_cast<hr::element_t<B>>(next() >> (8 + next() % 24));
        got[i] = expected[i] = static_cast<hr::element_t<O>>(next() >> 8);
    }
    constexpr tensor row{.type = B, .rank = 2, .size = {3, N}, .stride = {1, 0}, .span = 3};
    constexpr tensor all = IsBroadcast ? row : dense(B, 3, N);
    for (std::int32_t i = 0; i != 3 * N; ++i)
        hr::store<O>(&expected[i], F::of(hr::load<A>(&x[i]), hr::load<B>(&y[IsBroadcast ? i / N : i])));
    hr::kernel<hr::elementwise<F, dense(O, 3, N), dense(A, 3, N), all>, hr::native>::run(x, y, got);
    for (std::int32_t i = 0; i != most; ++i) differences += got[i] != expected[i];
    compared += 3 * N;
}
template <class F, element O, element A, element B>
void compare_sizes() {
    compare<F, O, A, B, 1, false>();
    compare<F, O, A, B, 5, false>();
    compare<F, O, A, B, 32, false>();
    compare<F, O, A, B, 7, true>();
    compare<F, O, A, B, 16, true>();
}
template <class F, element O = element::int32>
void compare_types() {
    compare_sizes<F, O, element::int32, element::int32>();
    compare_sizes<F, O, element::int8, element::int16>();
    compare_sizes<F, O, element::uint8, element::uint16>();
    compare_sizes<F, O, element::boolean, element::int8>();
}

/// The core's own conversions of float16 give what the constant expressions do.
void compare_conversions() {
    const auto compare_float = [](std::uint32_t bits) {
        const auto x = std::bit_cast<float>(bits);
        differences += x == x && hr::half_float(x).bits() != hr::detail::float16_bits(bits);
        ++compared;
    };
    for (std::uint32_t bits = 0; bits != 0x10000; ++bits) {
        const float x = hr::half_float::of_bits(static_cast<std::uint16_t>(bits));
        const auto expected = std::bit_cast<float>(hr::detail::float_bits_of_float16(bits));
        differences += std::bit_cast<std::uint32_t>(x) != std::bit_cast<std::uint32_t>(expected) &&
            (x == x || expected == expected);
        for (std::uint32_t i = 0; i != 3; ++i) compare_float((bits << 16) + 0x0fff + i);
        compare_float(next());
    }
}

constexpr std::int32_t residual_size = 16384;
constexpr tensor t = dense(element::int8, residual_size);
alignas(16) std::int8_t left[residual_size], right[residual_size], result[residual_size];

}  // namespace

int main() {
    for (auto& e : entries) e = static_cast<std::int8_t>(next() >> 20);
    for (auto& e : wide_entries) e = static_cast<std::int16_t>(next() >> 16);
    compare_sizes<residual, element::int8, element::int8, element::int8>();
    compare_types<arithmetic>();
    compare_types<shifts, element::int16>();
    compare_types<choices, element::int8>();
    compare_types<comparison, element::boolean>();
    compare_types<tables>();
    compare_types<scales>();
    compare_types<by_channel, element::int8>();
    compare_types<reals, element::int8>();
    compare_types<small_reals, element::int8>();
    compare_conversions();
    for (std::int32_t i = 0; i != residual_size; ++i) {
        left[i] = static_cast<std::int8_t>(next() >> 20);
        right[i] = static_cast<std::int8_t>(next() >> 20);
    }
    const auto run = [] {
        hr::kernel<hr::elementwise<residual, t, t, t>, hr::native>::run(left, right, result);
    };
    board::print("compared ");
    board::print(compared);
    board::print(", different ");
    board::print(differences);
    board::print("\nresidual sum of 16384: ");
    board::print(board::instructions(run));
    board::print(" instructions\n");
    return differences != 0;
}
