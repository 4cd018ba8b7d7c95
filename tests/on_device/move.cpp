// SPDX-License-Identifier: MIT
// Checks the kernels that move elements against loops over indices.
#include <cstdint>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

#include <headrace/on_device/move.hpp>

#include "numbers.hpp"

namespace hr = headrace::on_device;
using hr::dense;
using hr::element;
using hr::tensor;
using on_device_test::place_of;
using on_device_test::random_elements;

namespace {

constexpr tensor permuted(const tensor& t, int a, int b, int c, int d) {
    const int order[]{a, b, c, d};
    tensor r = t;
    for (int i = 0; i != 4; ++i) {
        r.size[i] = t.size[order[i]];
        r.stride[i] = t.stride[order[i]];
    }
    return r;
}
constexpr tensor part(tensor t, int axis, std::int32_t start, std::int32_t size) {
    t.offset += start * t.stride[axis];
    t.size[axis] = size;
    return t;
}
constexpr tensor reversed(tensor t, int axis) {
    t.offset += (t.size[axis] - 1) * t.stride[axis];
    t.stride[axis] = -t.stride[axis];
    return t;
}

template <tensor In, tensor Out>
void check_copy() {
    std::mt19937 random(1);
    const auto in = random_elements<In.type>(random, In.span);
    auto got = random_elements<Out.type>(random, Out.span), expected = got;
    for (std::int32_t n = 0; n != Out.elements(); ++n)
        expected[place_of(Out, n)] = static_cast<hr::element_t<Out.type>>(in[place_of(In, n)]);
    hr::kernel<hr::copy<In, Out>, hr::native>::run(in.data(), got.data());
    CHECK(got == expected);
}
template <element E>
void check_copies() {
    constexpr tensor image = dense(E, 2, 5, 6, 7), turned = dense(E, 2, 7, 5, 6);
    check_copy<image, image>();
    check_copy<permuted(image, 0, 3, 1, 2), turned>();
    check_copy<image, permuted(turned, 0, 2, 3, 1)>();
    check_copy<reversed(image, 1), image>();
    check_copy<reversed(image, 3), image>();
    check_copy<part(image, 1, 2, 3), dense(E, 2, 3, 6, 7)>();
    check_copy<part(part(image, 3, 1, 4), 2, 2, 2), dense(E, 2, 5, 2, 4)>();
    check_copy<dense(E, 2, 5, 2, 7), part(image, 2, 3, 2)>();
    check_copy<dense(E, 1, 5, 6, 7), hr::planes(E, 5, 6, 7, 0, 4, 1, 2, 3)>();
    check_copy<hr::planes(E, 5, 6, 7, 0, 4, 1, 2, 3), dense(E, 1, 5, 6, 7)>();
    constexpr tensor colours = dense(E, 2, 5, 6, 3);
    check_copy<hr::planes(E, 5, 6, 3, 0, 4, 1, 2, 3), dense(E, 1, 5, 6, 3)>();
    check_copy<reversed(colours, 3), colours>();
    check_copy<reversed(colours, 2), colours>();
    check_copy<dense(E), dense(E)>();
    check_copy<dense(E, 77), dense(E, 77)>();
}

template <tensor In, tensor Out>
void check_tile() {
    std::mt19937 random(2);
    const auto in = random_elements<In.type>(random, In.span);
    auto got = random_elements<Out.type>(random, Out.span), expected = got;
    for (std::int32_t n = 0; n != Out.elements(); ++n) {
        std::int32_t at = In.offset, rest = n;
        for (int d = Out.rank; d-- != 0; rest /= Out.size[d])
            at += rest % Out.size[d] % In.size[d] * In.stride[d];
        expected[place_of(Out, n)] = in[at];
    }
    hr::kernel<hr::tile<In, Out>, hr::native>::run(in.data(), got.data());
    CHECK(got == expected);
}

}  // namespace

TEST_CASE("Copies between all layouts") {
    check_copies<element::int8>();
    check_copies<element::boolean>();
    check_copies<element::int16>();
    check_copies<element::float32>();
    check_copies<element::int48>();
    check_copy<dense(element::int8, 4, 5), dense(element::uint8, 4, 5)>();
    CHECK(
        hr::loops_over(-1, dense(element::int8, 2, 5, 6, 7), part(dense(element::int8, 2, 5, 9, 7), 2, 3, 6))
            .depth == 2);
}

TEST_CASE("A copy to its own place is nothing") {
    constexpr tensor t = dense(element::int8, 4, 5);
    std::mt19937 random(1);
    const auto in = random_elements<element::int8>(random, 20);
    auto got = in;
    hr::kernel<hr::copy<t, t>, hr::native>::run(got.data(), got.data());
    CHECK(got == in);
}

TEST_CASE("A part of a tensor is filled") {
    constexpr tensor whole = dense(element::int16, 4, 5, 6), border = part(part(whole, 1, 3, 2), 2, 1, 4);
    std::mt19937 random(1);
    auto got = random_elements<element::int16>(random, whole.span), expected = got;
    const std::int16_t value = 77;
    for (std::int32_t n = 0; n != border.elements(); ++n) expected[place_of(border, n)] = value;
    hr::kernel<hr::fill<border>, hr::native>::run(&value, got.data());
    CHECK(got == expected);
    for (std::int32_t n = 0; n != whole.elements(); ++n) expected[n] = value;
    hr::kernel<hr::fill<whole>, hr::native>::run(&value, got.data());
    CHECK(got == expected);
    constexpr tensor planar = hr::planes(element::int16, 2, 3, 5, 0, 2);
    auto planes = random_elements<element::int16>(random, planar.span), filled = planes;
    for (std::int32_t n = 0; n != planar.elements(); ++n) filled[place_of(planar, n)] = value;
    hr::kernel<hr::fill<planar>, hr::native>::run(&value, planes.data());
    CHECK(planes == filled);
}

TEST_CASE("Tiles repeat each axis") {
    check_tile<dense(element::int8, 2, 3, 4), dense(element::int8, 2, 3, 4)>();
    check_tile<dense(element::int8, 2, 3, 4), dense(element::int8, 6, 3, 8)>();
    check_tile<dense(element::int8, 1, 3, 1), dense(element::int8, 5, 3, 7)>();
    check_tile<dense(element::float32, 2, 3, 4), dense(element::float32, 2, 9, 4)>();
    check_tile<dense(element::int32, 2, 1, 3, 1, 2, 1), dense(element::int32, 4, 2, 6, 2, 4, 2)>();
}

TEST_CASE("Rows are gathered and scattered") {
    constexpr tensor values = dense(element::int8, 2, 5, 6), rows = dense(element::int8, 2, 4, 6),
                     places = dense(element::int32, 2, 4);
    std::mt19937 random(5);
    const auto in = random_elements<element::int8>(random, values.span);
    const auto new_rows = random_elements<element::int8>(random, rows.span);
    const std::int32_t indices[]{4, 0, 0, 3, 2, 4, 1, 0}, distinct[]{4, 0, 2, 3, 2, 4, 1, 0};
    auto got = random_elements<element::int8>(random, rows.span);
    hr::kernel<hr::gather<values, places, rows>, hr::native>::run(in.data(), indices, got.data());
    for (std::int32_t n = 0; n != 2; ++n)
        for (std::int32_t w = 0; w != 4; ++w)
            for (std::int32_t c = 0; c != 6; ++c)
                CHECK(got[rows.at(n, w, c)] == in[values.at(n, indices[places.at(n, w)], c)]);
    auto expected = in, result = random_elements<element::int8>(random, values.span), in_place = in;
    for (std::int32_t n = 0; n != 2; ++n)
        for (std::int32_t w = 0; w != 4; ++w)
            for (std::int32_t c = 0; c != 6; ++c)
                expected[values.at(n, distinct[places.at(n, w)], c)] = new_rows[rows.at(n, w, c)];
    using op = hr::scatter<values, places, rows, values>;
    hr::kernel<op, hr::native>::run(in.data(), distinct, new_rows.data(), result.data());
    CHECK(result == expected);
    hr::kernel<op, hr::native>::run(in_place.data(), distinct, new_rows.data(), in_place.data());
    CHECK(in_place == expected);

    const std::int32_t outside[]{-1, 5, INT32_MAX, INT32_MIN, -1, 5, 99, -7};
    hr::kernel<hr::gather<values, places, rows>, hr::native>::run(in.data(), outside, got.data());
    CHECK(got[rows.at(0, 1, 2)] == in[values.at(0, 4, 2)]);
    hr::kernel<op, hr::native>::run(in.data(), outside, new_rows.data(), result.data());
    CHECK(result == in);
}

static_assert([] {
    const std::int8_t x[]{1, 2, 3, 4, 5, 6};
    std::int8_t y[6]{};
    constexpr tensor in = dense(element::int8, 1, 1, 2, 3), out = dense(element::int8, 1, 1, 3, 2);
    hr::kernel<hr::copy<permuted(in, 0, 1, 3, 2), out>, hr::portable>::run(x, y);
    return y[0] == 1 && y[1] == 4 && y[2] == 2 && y[5] == 6;
}());
static_assert([] {
    const std::int8_t x[]{1, 2, 3};
    std::int8_t y[6]{};
    hr::kernel<hr::tile<dense(element::int8, 3), dense(element::int8, 6)>, hr::portable>::run(x, y);
    return y[0] == 1 && y[3] == 1 && y[5] == 3;
}());
