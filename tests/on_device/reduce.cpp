// SPDX-License-Identifier: MIT
// Checks headrace::on_device::reduce and headrace::on_device::argmax against loops over indices.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

#include <catch2/catch.hpp>

#include <headrace/on_device/reduce.hpp>

#include "numbers.hpp"

namespace hr = headrace::on_device;
using hr::dense;
using hr::element;
using hr::nan_mode;
using hr::reduction;
using hr::reduction_kind;
using hr::tensor;
using on_device_test::buffer;
using on_device_test::place_of;
using on_device_test::random_elements;

namespace {

constexpr float inf = std::numeric_limits<float>::infinity(),
                nan_value = std::numeric_limits<float>::quiet_NaN();

constexpr tensor reduced(tensor t, int axis) {
    t.size[axis] = 1;
    return t;
}
/// The element with an index that is that of the result but for the axis.
std::int32_t place_along(const tensor& in, const tensor& out, std::int32_t n, int axis, std::int32_t i) {
    std::int32_t at = in.offset;
    for (int d = out.rank; d-- != 0; n /= out.size[d]) at += (d == axis ? i : n % out.size[d]) * in.stride[d];
    return at;
}

template <reduction R, class Start = hr::as_it_is, class Finish = hr::as_it_is, class F, class G, class H>
void check(double start, F before, G step, H after) {
    std::mt19937 random(3);
    const auto in = random_elements<R.input.type>(random, R.input.span);
    auto got = random_elements<R.output.type>(random, R.output.span), expected = got;
    for (std::int32_t n = 0; n != R.output.elements(); ++n) {
        double sum = start;
        for (std::int32_t i = 0; i != R.input.size[R.axis]; ++i)
            sum = step(sum, before(static_cast<double>(in[place_along(R.input, R.output, n, R.axis, i)])));
        expected[place_of(R.output, n)] = static_cast<hr::element_t<R.output.type>>(after(sum));
    }
    hr::kernel<hr::reduce<R, Start, Finish>, hr::native>::run(in.data(), got.data());
    CHECK(got == expected);
}
const auto same = [](double x) { return x; };
const auto low_word = [](double x) { return static_cast<std::int32_t>(static_cast<std::int64_t>(x)); };

template <tensor In, tensor Out, int Axis>
void check_integers() {
    constexpr double lowest = static_cast<double>(hr::lowest_of(In.type)),
                     highest = static_cast<double>(hr::highest_of(In.type));
    check<reduction{In, Out, Axis, reduction_kind::max}>(
        lowest, same, [](double a, double b) { return std::max(a, b); }, same);
    check<reduction{In, Out, Axis, reduction_kind::min}>(
        highest, same, [](double a, double b) { return std::min(a, b); }, same);
    if constexpr (In.type == element::int32)
        check<reduction{In, Out, Axis, reduction_kind::sum}>(
            0, same, [](double a, double b) { return a + b; }, low_word);
}
template <element E>
void check_layouts() {
    constexpr tensor image = dense(E, 2, 3, 4, 5), line = dense(E, 9);
    check_integers<image, dense(E, 1, 3, 4, 5), 0>();
    check_integers<image, dense(E, 2, 1, 4, 5), 1>();
    check_integers<image, dense(E, 2, 3, 1, 5), 2>();
    check_integers<image, dense(E, 2, 3, 4, 1), 3>();
    check_integers<line, dense(E, 1), 0>();
    constexpr tensor planar = hr::planes(E, 4, 5, 3, 0, 2, 1, 3, 2);
    check_integers<planar, hr::planes(E, 1, 5, 3, 0, 1), 1>();
    check_integers<planar, dense(E, 1, 4, 5, 1), 3>();
}

struct square {
    static constexpr auto of(auto x) { return hr::mul(x, x); }
};
struct halved {
    static constexpr auto of(auto x) {
        constexpr hr::rescaling half{
            .input = element::int32, .output = element::int8, .multiplier = 1 << 30, .shift = 37};
        return hr::rescale<half>(x);
    }
};

}  // namespace

TEST_CASE("Reductions of integers are exact in each layout") {
    check_layouts<element::int8>();
    check_layouts<element::int16>();
    check_layouts<element::int32>();
}

TEST_CASE("Booleans") {
    constexpr tensor in = dense(element::boolean, 3, 4, 2), out = dense(element::boolean, 3, 1, 2);
    check<reduction{in, out, 1, reduction_kind::all}>(
        1, same, [](double a, double b) { return a * b; }, same);
    check<reduction{in, out, 1, reduction_kind::any}>(
        0, same, [](double a, double b) { return std::max(a, b); }, same);
}

TEST_CASE("Functions before and after a reduction are a part of it") {
    constexpr tensor in = dense(element::int8, 3, 4, 5), out = dense(element::int8, 3, 1, 5);
    check<reduction{in, out, 1, reduction_kind::sum}, square, halved>(
        0, [](double x) { return x * x; }, [](double a, double b) { return a + b; },
        [](double x) { return std::clamp(std::floor(x / 128 + 0.5), -128.0, 127.0); });
}

TEST_CASE("Floats") {
    constexpr tensor in = dense(element::float32, 3, 4, 5), out = dense(element::float32, 3, 1, 5);
    check<reduction{in, out, 1, reduction_kind::sum}>(
        0, same,
        [](double a, double b) { return static_cast<double>(static_cast<float>(a) + static_cast<float>(b)); },
        same);
    check<reduction{in, out, 1, reduction_kind::product}>(
        1, same,
        [](double a, double b) { return static_cast<double>(static_cast<float>(a) * static_cast<float>(b)); },
        same);
    check<reduction{in, out, 1, reduction_kind::max}>(
        -inf, same, [](double a, double b) { return std::max(a, b); }, same);
}

TEST_CASE("NaN wins or does not count") {
    constexpr tensor in = dense(element::float32, 2, 3), out = dense(element::float32, 2, 1),
                     place = dense(element::int32, 2);
    const float x[]{1, nan_value, -4, nan_value, nan_value, nan_value};
    float y[2];
    std::int32_t at[2];
    hr::kernel<hr::reduce<reduction{in, out, 1, reduction_kind::max}>, hr::native>::run(x, y);
    CHECK(std::isnan(y[0]));
    hr::kernel<hr::reduce<reduction{in, out, 1, reduction_kind::max, nan_mode::ignore}>, hr::native>::run(
        x, y);
    CHECK(y[0] == 1);
    CHECK(y[1] == -inf);
    hr::kernel<hr::reduce<reduction{in, out, 1, reduction_kind::min, nan_mode::ignore}>, hr::native>::run(
        x, y);
    CHECK(y[0] == -4);
    hr::kernel<hr::argmax<in, place, 1>, hr::native>::run(x, at);
    CHECK(at[0] == 1);
    CHECK(at[1] == 0);
    hr::kernel<hr::argmax<in, place, 1, nan_mode::ignore>, hr::native>::run(x, at);
    CHECK(at[0] == 0);
    CHECK(at[1] == 0);
}

namespace {
template <tensor In, tensor Out, int Axis>
void check_argmax() {
    std::mt19937 random(4);
    const auto in = random_elements<In.type>(random, In.span);
    auto got = random_elements<Out.type>(random, Out.span);
    hr::kernel<hr::argmax<In, Out, Axis>, hr::native>::run(in.data(), got.data());
    const tensor with_axis = reduced(In, Axis);
    for (std::int32_t n = 0; n != Out.elements(); ++n) {
        std::int32_t best = 0;
        for (std::int32_t i = 1; i != In.size[Axis]; ++i) {
            if (in[place_along(In, with_axis, n, Axis, i)] > in[place_along(In, with_axis, n, Axis, best)])
                best = i;
        }
        CHECK(got[place_of(Out, n)] == best);
    }
}
}  // namespace

TEST_CASE("The first of the largest elements") {
    check_argmax<dense(element::int8, 2, 3, 4), dense(element::int32, 3, 4), 0>();
    check_argmax<dense(element::int8, 2, 3, 4), dense(element::int32, 2, 4), 1>();
    check_argmax<dense(element::float32, 2, 3, 4), dense(element::int32, 2, 3), 2>();
    check_argmax<dense(element::int16, 12), dense(element::int32), 0>();
    check_argmax<hr::planes(element::int8, 3, 4, 5, 0, 2), dense(element::int32, 1, 3, 4), 3>();
}

static_assert([] {
    const std::int32_t x[]{1, 2, 3, INT32_MAX, 1, 0};
    std::int32_t y[2]{};
    constexpr reduction r{dense(element::int32, 2, 3), dense(element::int32, 2, 1), 1, reduction_kind::sum};
    hr::kernel<hr::reduce<r>, hr::portable>::run(x, y);
    return y[0] == 6 && y[1] == INT32_MIN;
}());
