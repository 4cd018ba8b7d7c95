// SPDX-License-Identifier: MIT
// Checks floats of 16 bits: their conversions against arithmetic on doubles, and kernels that read and write
// them.
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <type_traits>

#include <catch2/catch.hpp>

#include <headrace/base/float_format.hpp>
#include <headrace/on_device/conv2d.hpp>
#include <headrace/on_device/conv3d.hpp>
#include <headrace/on_device/elementwise.hpp>
#include <headrace/on_device/functions.hpp>
#include <headrace/on_device/matmul.hpp>
#include <headrace/on_device/move.hpp>
#include <headrace/on_device/pooling.hpp>
#include <headrace/on_device/reduce.hpp>
#include <headrace/on_device/resize.hpp>
#include <headrace/on_device/sample.hpp>

#include "numbers.hpp"

namespace hr = headrace::on_device;
using hr::brain_float;
using hr::dense;
using hr::element;
using hr::half_float;
using hr::tensor;
using on_device_test::random_elements;

namespace {

template <class T>
constexpr headrace::float_format format_of() {
    return headrace::format_of(
        std::is_same_v<T, half_float> ? headrace::dtype::float16 : headrace::dtype::bfloat16);
}
template <class T>
T of_bits(std::uint32_t bits) {
    return T::of_bits(static_cast<std::uint16_t>(bits));
}
/// Also the sign of 0.
bool is_same(float a, float b) {
    return std::isnan(a) ? std::isnan(b) : std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}
template <class T>
bool rounds(float number) {
    const T got = number;
    const auto wanted = of_bits<T>(headrace::encode_float(number, format_of<T>()));
    return std::isnan(number) ? std::isnan(float{got}) : got.bits() == wanted.bits();
}

template <class T>
void check_all_patterns() {
    int wrong = 0;
    for (std::uint32_t bits = 0; bits != 0x10000; ++bits) {
        const auto number = of_bits<T>(bits);
        const float value = number;
        wrong += !is_same(value, static_cast<float>(headrace::decode_float(bits, format_of<T>())));
        wrong += std::isnan(value) ? !std::isnan(float{T(value)}) : T(value).bits() != bits;
        // The floats between a number and the next one, and one float to either side, with their roundings.
        const auto next = static_cast<float>(headrace::decode_float((bits + 1) & 0xffff, format_of<T>()));
        const float between =
            std::isfinite(value) && std::isfinite(next) ? value + (next - value) / 2 : value;
        wrong += !rounds<T>(between);
        wrong += !rounds<T>(std::nextafter(between, INFINITY));
        wrong += !rounds<T>(std::nextafter(between, -INFINITY));
    }
    CHECK(wrong == 0);
}
template <class T>
void check_many_floats() {
    int wrong = 0;
    for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32); bits += 1021)
        wrong += !rounds<T>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    for (const float x : {65504.F, 65519.996F, 65520.F, 65536.F, 5.9604645e-8F, 2.9802322e-8F, 2.9802326e-8F,
             6.0975552e-5F, 6.1035156e-5F, 3.3895314e38F, 3.4e38F, 1e-45F, INFINITY, -INFINITY})
        wrong += !rounds<T>(x) + !rounds<T>(-x);
    CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("Each pattern of 16 bits is the float of its format, and is found again") {
    check_all_patterns<half_float>();
    check_all_patterns<brain_float>();
}
TEST_CASE("Floats are rounded to the nearest number, the even one of two") {
    check_many_floats<half_float>();
    check_many_floats<brain_float>();
}
TEST_CASE("Conversions are constant expressions") {
    STATIC_REQUIRE(half_float(1.F).bits() == 0x3c00);
    STATIC_REQUIRE(half_float(-65520.F).bits() == 0xfc00);
    STATIC_REQUIRE(half_float(3e-8F).bits() == 1);
    STATIC_REQUIRE(float{half_float::of_bits(1)} == 0x1p-24F);
    STATIC_REQUIRE(brain_float(1.F).bits() == 0x3f80);
    STATIC_REQUIRE(brain_float(3.4e38F).bits() == 0x7f80);
    constexpr auto constants = hr::constants_of<half_float>(hr::constant_bits<3>{{0x3c00, 0xc000, 0x7c00}});
    STATIC_REQUIRE(constants[0] == 1.F);
    STATIC_REQUIRE(constants[1] == -2.F);
    STATIC_REQUIRE(constants[2] == INFINITY);
}
TEST_CASE("A cast to 16 bits rounds, and gives a float") {
    STATIC_REQUIRE(hr::cast<element::float16>(2049.F) == 2048.F);
    STATIC_REQUIRE(hr::cast<element::bfloat16>(257.F) == 256.F);
    STATIC_REQUIRE(hr::cast<element::float16>(hr::constant<2051>) == 2052.F);
    STATIC_REQUIRE(hr::cast<element::int8>(hr::cast<element::bfloat16>(0.501F)).value == 0);
}

// --- kernels -----------------------------------------------------------------------------

namespace {

struct sum_of {
    static constexpr auto of(auto x, auto y) { return hr::add(x, y); }
};
/// A product of floats as elements, from small integers, so that sums in any order are exact.
template <element E>
auto small_integers(std::mt19937& random, std::int32_t n) {
    on_device_test::buffer<hr::element_t<E>> all(n);
    for (std::int32_t i = 0; i != n; ++i) all[i] = static_cast<float>(static_cast<int>(random() % 9) - 4);
    return all;
}
template <element E>
void check_elementwise() {
    using T = hr::element_t<E>;
    constexpr tensor image = dense(E, 1, 6, 5, 8), wide = dense(element::float32, 1, 6, 5, 8);
    std::mt19937 random(3);
    const auto a = random_elements<E>(random, image.span), b = random_elements<E>(random, image.span);
    on_device_test::buffer<T> y(image.span);
    on_device_test::buffer<float> z(image.span);
    hr::kernel<hr::elementwise<sum_of, image, image, image>, hr::native>::run(a.data(), b.data(), y.data());
    hr::kernel<hr::elementwise<sum_of, wide, image, image>, hr::native>::run(a.data(), b.data(), z.data());
    int wrong = 0;
    for (std::int32_t i = 0; i != image.span; ++i) {
        wrong += z[i] != float{a[i]} + float{b[i]};
        wrong += y[i].bits() != T(z[i]).bits();
    }
    CHECK(wrong == 0);
}

template <element E>
void check_product() {
    constexpr tensor a = dense(E, 2, 3, 7), b = dense(E, 2, 7, 4), y = dense(E, 2, 3, 4);
    constexpr hr::matrix_product m{.a = a, .b = b, .output = y};
    std::mt19937 random(4);
    const auto left = small_integers<E>(random, a.span), right = small_integers<E>(random, b.span);
    on_device_test::buffer<hr::element_t<E>> got(y.span);
    hr::kernel<hr::matmul<m>, hr::native>::run(left.data(), right.data(), nullptr, got.data());
    int wrong = 0;
    for (std::int32_t n = 0; n != 2; ++n)
        for (std::int32_t i = 0; i != 3; ++i)
            for (std::int32_t j = 0; j != 4; ++j) {
                float sum = 0;
                for (std::int32_t k = 0; k != 7; ++k) sum += left[a.at(n, i, k)] * right[b.at(n, k, j)];
                wrong += got[y.at(n, i, j)] != sum;
            }
    CHECK(wrong == 0);
}

/// A window of 3 x 3 over an image with borders, as CONV2D and as CONV3D of a depth of 1: constant weights,
/// and computed ones.
template <element E>
void check_convolution() {
    using T = hr::element_t<E>;
    constexpr tensor x = dense(E, 1, 5, 4, 3), y = dense(E, 1, 5, 4, 2);
    constexpr hr::convolution s{.input = x, .output = y, .kernel = {3, 3}, .pad = {1, 1, 1, 1}};
    constexpr hr::convolution3d v{.input = dense(E, 1, 1, 5, 4, 3),
        .output = dense(E, 1, 1, 5, 4, 2),
        .kernel = {1, 3, 3},
        .pad = {0, 1, 1}};
    std::mt19937 random(5);
    const auto image = small_integers<E>(random, x.span), weights = small_integers<E>(random, 2 * 27);
    const std::array<float, 2> bias{0.5F, -3.F};
    const std::array<T, 2> biases{bias[0], bias[1]};
    on_device_test::buffer<T> got(y.span), computed(y.span);
    hr::kernel<hr::conv2d<s>, hr::native>::run(image.data(), weights.data(), bias.data(), got.data());
    hr::kernel<hr::conv3d<v>, hr::native>::run(image.data(), weights.data(), biases.data(), computed.data());
    int wrong = 0;
    for (std::int32_t i = 0; i != y.span; ++i) {
        const std::int32_t c = i % 2, column = i / 2 % 4, row = i / 8;
        float sum = bias[static_cast<std::size_t>(c)];
        for (std::int32_t k = 0; k != 27; ++k) {
            const std::int32_t iy = row + k / 9 - 1, ix = column + k / 3 % 3 - 1;
            if (iy < 0 || iy >= 5 || ix < 0 || ix >= 4) continue;
            sum += image[x.at(0, iy, ix, k % 3)] * weights[c * 27 + k];
        }
        wrong += got[i].bits() != T(sum).bits();
        wrong += computed[i].bits() != got[i].bits();
    }
    CHECK(wrong == 0);
}

template <element E>
void check_windows_and_axes() {
    using T = hr::element_t<E>;
    constexpr tensor x = dense(E, 1, 2, 2, 1), one = dense(E, 1, 1, 1, 1),
                     place = dense(element::int32, 1, 1, 1);
    constexpr hr::pooling pool{.input = x, .output = one, .kernel = {2, 2}, .stride = {2, 2}};
    const std::array<T, 4> image{-1.F, 3.F, 2.5F, 0.25F};
    T y;
    hr::kernel<hr::avg_pool2d<pool>, hr::native>::run(image.data(), &y);
    CHECK(y == 1.1875F);
    hr::kernel<hr::max_pool2d<pool>, hr::native>::run(image.data(), &y);
    CHECK(y == 3.F);
    constexpr tensor row = dense(E, 4), sum = dense(E, 1);
    hr::kernel<hr::reduce<hr::reduction{.input = row, .output = sum}>, hr::native>::run(image.data(), &y);
    CHECK(y == 4.75F);
    std::int32_t at = -1;
    hr::kernel<hr::argmax<x, place, 2>, hr::native>::run(image.data(), &at);
    CHECK(at == 1);
    std::array<T, 16> large{};
    constexpr hr::resizing twice{.input = x,
        .output = dense(E, 1, 4, 4, 1),
        .y = {4, 2, -1},
        .x = {4, 2, -1},
        .mode = hr::resize_mode::bilinear};
    hr::kernel<hr::resize<twice>, hr::native>::run(image.data(), large.data());
    CHECK(large[0] == -1.F);
    CHECK(large[1] == 0.F);
    CHECK(large[5] == T(0.484375F));
    std::array<T, 4> turned{};
    constexpr tensor back{.type = E, .rank = 1, .size = {4}, .stride = {-1}, .offset = 3, .span = 4};
    hr::kernel<hr::copy<row, back>, hr::native>::run(image.data(), turned.data());
    CHECK(turned[0] == 0.25F);
}

}  // namespace

TEST_CASE("Kernels read and write floats of 16 bits, and compute in 32") {
    check_elementwise<element::float16>();
    check_elementwise<element::bfloat16>();
    check_product<element::float16>();
    check_product<element::bfloat16>();
    check_convolution<element::float16>();
    check_convolution<element::bfloat16>();
    check_windows_and_axes<element::float16>();
    check_windows_and_axes<element::bfloat16>();
}

constexpr half_float convolved_by_compiler() {
    constexpr tensor x = dense(element::float16, 1, 2, 2, 1), y = dense(element::float16, 1, 1, 1, 1);
    constexpr hr::convolution s{.input = x, .output = y, .kernel = {2, 2}};
    const std::array<half_float, 4> image{1.F, 2.F, 3.F, 4.F}, weights{0.5F, 0.25F, -1.F, 2.F};
    const float bias = 0.125F;
    half_float result;
    hr::kernel<hr::conv2d<s>, hr::portable>::run(image.data(), weights.data(), &bias, &result);
    return result;
}
TEST_CASE("They run in constant expressions") { STATIC_REQUIRE(convolved_by_compiler() == 6.125F); }

TEST_CASE("A sample's results may differ by what rounding in 16 bits explains") {
    const std::array<half_float, 2> got{1.F, 0.005F}, near{1.005F, 0.F}, far{1.03F, 0.F};
    CHECK(hr::are_near<element::float16>(got.data(), near, 2, 1));
    CHECK_FALSE(hr::are_near<element::float16>(got.data(), far, 2, 1));
    const std::array<float, 1> x{1.F}, y{1.01F};
    CHECK_FALSE(hr::are_near<element::float32>(x.data(), y, 1, 1));
    const std::array<std::int8_t, 1> a{1}, b{2};
    CHECK_FALSE(hr::are_near<element::int8>(a.data(), b, 1, 1));
}
