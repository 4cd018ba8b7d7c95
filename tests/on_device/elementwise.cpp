// SPDX-License-Identifier: MIT
// Checks headrace::on_device::elementwise on many layouts against loops over indices.
#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

#include <headrace/on_device/elementwise.hpp>
#ifdef __ARM_FEATURE_MVE
#include <headrace/on_device/mve/elementwise.hpp>
#endif

#include "numbers.hpp"

namespace hr = headrace::on_device;
using hr::dense;
using hr::element;
using hr::tensor;
using on_device_test::place_of;
using on_device_test::random_elements;

namespace {

/// A tensor's elements in the order of another's: the axes are permuted, or broadcast.
constexpr tensor with_axes(tensor t, std::array<int, 4> order) {
    tensor r = t;
    for (int d = 0; d != t.rank; ++d) {
        r.size[d] = t.size[order[static_cast<std::size_t>(d)]];
        r.stride[d] = t.stride[order[static_cast<std::size_t>(d)]];
    }
    return r;
}
constexpr tensor broadcast(tensor t, int axis, std::int32_t size) {
    t.size[axis] = size;
    t.stride[axis] = 0;
    return t;
}
constexpr tensor reversed(tensor t, int axis) {
    t.offset += (t.size[axis] - 1) * t.stride[axis];
    t.stride[axis] = -t.stride[axis];
    return t;
}
struct residual {
    static constexpr hr::rescaling a{
        .output = element::int32, .multiplier = 1 << 30, .shift = 11, .input_zero = -5};
    static constexpr hr::rescaling b{
        .output = element::int32, .multiplier = 1181043519, .shift = 12, .input_zero = -128};
    static constexpr hr::rescaling c{
        .input = element::int32, .multiplier = 1814993540, .shift = 50, .output_zero = -25};
    static constexpr auto of(auto x, auto y) {
        return hr::clamp<-25, 127>(hr::rescale<c>(hr::add(hr::rescale<a>(x), hr::rescale<b>(y))));
    }
};
int residual_of(int x, int y) {
    const auto scale = [](std::int64_t v, std::int64_t m, int s) {
        return (v * m + (std::int64_t{1} << (s - 1))) >> s;
    };
    const std::int64_t v =
        scale(scale(x + 5, 1 << 30, 11) + scale(y + 128, 1181043519, 12), 1814993540, 50) - 25;
    return static_cast<int>(std::clamp<std::int64_t>(v, -25, 127));
}

template <class F, tensor Out, tensor A, tensor B, class G>
void check(G oracle) {
    std::mt19937 random(7);
    const auto a = random_elements<A.type>(random, A.span);
    const auto b = random_elements<B.type>(random, B.span);
    const auto before = random_elements<Out.type>(random, Out.span);
    auto expected = before, got = before;
    for (std::int32_t n = 0; n != Out.elements(); ++n) {
        expected[place_of(Out, n)] =
            static_cast<hr::element_t<Out.type>>(oracle(a[place_of(A, n)], b[place_of(B, n)]));
    }
    hr::kernel<hr::elementwise<F, Out, A, B>, hr::native>::run(a.data(), b.data(), got.data());
    CHECK(got == expected);  // also what lies between the elements
}
template <tensor Out, tensor A, tensor B>
void check_residual() {
    check<residual, Out, A, B>([](int x, int y) { return residual_of(x, y); });
}

constexpr tensor image = dense(element::int8, 1, 6, 5, 8);
constexpr tensor planar = hr::planes(element::int8, 6, 5, 8, 0, 3, 2, 1, 4);
constexpr tensor channels = broadcast(broadcast(dense(element::int8, 1, 1, 1, 8), 1, 6), 2, 5);
constexpr tensor pixels = broadcast(dense(element::int8, 1, 6, 5, 1), 3, 8);
constexpr tensor scalar = broadcast(channels, 3, 8);

struct product {
    static constexpr auto of(auto x, auto y) { return hr::mul(x, y); }
};
struct is_less {
    static constexpr auto of(auto x, auto y) { return hr::greater(y, x); }
};
struct mixed {
    static constexpr auto of(auto x, auto y) {
        return hr::add(hr::mul(x, hr::cast<element::float32>(y)), 0.5F);
    }
};

}  // namespace

TEST_CASE("Dense operands take one loop") {
    STATIC_REQUIRE(hr::loops_over(-1, image, image, image).depth == 1);
    STATIC_REQUIRE(hr::loops_over(-1, image, image, scalar).depth == 1);
    STATIC_REQUIRE(hr::loops_over(-1, image, image, channels).depth == 2);
    STATIC_REQUIRE(hr::loops_over(-1, image, channels, image).depth == 2);
    STATIC_REQUIRE(hr::loops_over(-1, image, reversed(image, 1)).depth == 2);
    STATIC_REQUIRE(hr::loops_over(-1, planar, planar).depth == 3);
}

TEST_CASE("A residual sum has TOSA's bits in each layout") {
    check_residual<image, image, image>();
    check_residual<dense(element::int8, 1, 37), dense(element::int8, 1, 37), dense(element::int8, 1, 37)>();
    check_residual<dense(element::int8), dense(element::int8), dense(element::int8)>();
    check_residual<image, image, channels>();
    check_residual<image, channels, image>();
    check_residual<image, pixels, image>();
    check_residual<image, scalar, image>();
    check_residual<image, scalar, channels>();
    check_residual<image, scalar, scalar>();
    check_residual<planar, planar, planar>();
    check_residual<planar, image, channels>();
    check_residual<image, planar, pixels>();
    check_residual<image, reversed(image, 3), reversed(image, 1)>();
    check_residual<reversed(planar, 2), image, planar>();
    check_residual<with_axes(dense(element::int8, 6, 8, 1, 5), {2, 0, 3, 1}), image, planar>();
    check_residual<dense(element::int8, 1, 3, 1, 2), dense(element::int8, 1, 3, 1, 2),
        dense(element::int8, 1, 3, 1, 2)>();
}

TEST_CASE("Elements of other types") {
    constexpr tensor wide = dense(element::int32, 1, 6, 5, 8), flags = dense(element::boolean, 1, 6, 5, 8);
    constexpr tensor halves = dense(element::int16, 1, 6, 5, 8), reals = dense(element::float32, 1, 6, 5, 8);
    constexpr tensor bytes = dense(element::uint8, 1, 6, 5, 8);
    check<product, wide, halves, image>([](int x, int y) { return x * y; });
    check<product, wide, wide, wide>(
        [](int x, int y) { return static_cast<std::uint32_t>(x) * static_cast<std::uint32_t>(y); });
    check<product, wide, bytes, channels>([](int x, int y) { return x * y; });
    check<is_less, flags, wide, wide>([](int x, int y) { return x < y; });
    check<mixed, reals, reals, image>([](float x, int y) { return x * static_cast<float>(y) + 0.5F; });
}

TEST_CASE("The result may lie where an operand does") {
    std::mt19937 random(8);
    const auto a = random_elements<element::int8>(random, planar.span);
    const auto b = random_elements<element::int8>(random, channels.span);
    auto expected = a, got = a;
    using op = hr::elementwise<residual, planar, planar, channels>;
    hr::kernel<op, hr::native>::run(a.data(), b.data(), expected.data());
    hr::kernel<op, hr::native>::run(got.data(), b.data(), got.data());
    CHECK(got == expected);
}

constexpr std::array<std::int8_t, 4> constant_result() {
    constexpr tensor row = dense(element::int8, 4), one = broadcast(dense(element::int8, 1), 0, 4);
    const std::array<std::int8_t, 4> x{1, -5, 100, 127};
    const std::int8_t y = 3;
    std::array<std::int8_t, 4> out{};
    hr::kernel<hr::elementwise<residual, row, row, one>, hr::portable>::run(x.data(), &y, out.data());
    return out;
}
TEST_CASE("It runs in constant expressions") {
    constexpr std::array<std::int8_t, 4> got = constant_result();
    CHECK(got[0] == residual_of(1, 3));
    CHECK(got[3] == residual_of(127, 3));
}
