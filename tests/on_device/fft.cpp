// SPDX-License-Identifier: MIT
// Checks the Fourier transforms against their definition in double.
#include <cmath>
#include <complex>
#include <cstdint>
#include <numbers>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

#include <headrace/on_device/fft.hpp>

#include "numbers.hpp"

namespace hr = headrace::on_device;
using hr::dense;
using hr::element;
using hr::tensor;
using on_device_test::random_elements;

namespace {

using complex = std::complex<double>;
complex coefficient(
    const tensor& t, const float* re, const float* im, int n, int v, int u, double direction) {
    complex sum = 0;
    for (int y = 0; y != t.size[1]; ++y)
        for (int x = 0; x != t.size[2]; ++x) {
            const double turns =
                static_cast<double>(v * y) / t.size[1] + static_cast<double>(u * x) / t.size[2];
            const complex value(re[t.at(n, y, x)], im == nullptr ? 0.0 : im[t.at(n, y, x)]);
            sum += value * std::polar(1.0, direction * 2 * std::numbers::pi * turns);
        }
    return sum;
}
/// The error relative to the sum of the magnitudes is a few units of float32.
void expect(float re, float im, complex exact, double sum) {
    const double off = std::abs(complex(re, im) - exact);
    if (!(off <= 1e-6 * sum)) FAIL("off by " << off / sum);
}
double magnitudes(const on_device_test::buffer<float>& all) {
    double sum = 0;
    for (int i = 0; i != all.size(); ++i) sum += std::abs(static_cast<double>(all[i]));
    return sum;
}

template <tensor In, tensor Out, bool Inverse>
void check() {
    std::mt19937 random(1);
    const auto re = random_elements<element::float32>(random, In.span),
               im = random_elements<element::float32>(random, In.span);
    auto out_re = random_elements<element::float32>(random, Out.span), out_im = out_re;
    hr::kernel<hr::fft2d<In, Out, Inverse>, hr::native>::run(
        re.data(), im.data(), out_re.data(), out_im.data());
    const double sum = magnitudes(re) + magnitudes(im);
    for (int n = 0; n != In.size[0]; ++n)
        for (int y = 0; y != In.size[1]; ++y)
            for (int x = 0; x != In.size[2]; ++x)
                expect(out_re[Out.at(n, y, x)], out_im[Out.at(n, y, x)],
                    coefficient(In, re.data(), im.data(), n, y, x, Inverse ? 1 : -1), sum);
    if constexpr (In == Out) {
        auto re_in_place = re, im_in_place = im;
        hr::kernel<hr::fft2d<In, Out, Inverse>, hr::native>::run(
            re_in_place.data(), im_in_place.data(), re_in_place.data(), im_in_place.data());
        CHECK(re_in_place == out_re);
        CHECK(im_in_place == out_im);
    }
}
template <tensor In, tensor Out>
void check_real() {
    std::mt19937 random(2);
    const auto re = random_elements<element::float32>(random, In.span);
    auto out_re = random_elements<element::float32>(random, Out.span), out_im = out_re;
    using kernel = hr::kernel<hr::rfft2d<In, Out>, hr::native>;
    alignas(16) std::int8_t scratch[kernel::scratch];
    kernel::run(re.data(), out_re.data(), out_im.data(), scratch);
    const double sum = magnitudes(re);
    for (int n = 0; n != Out.size[0]; ++n)
        for (int y = 0; y != Out.size[1]; ++y)
            for (int x = 0; x != Out.size[2]; ++x)
                expect(out_re[Out.at(n, y, x)], out_im[Out.at(n, y, x)],
                    coefficient(In, re.data(), nullptr, n, y, x, -1), sum);
}
constexpr element f32 = element::float32;

}  // namespace

TEST_CASE("FFT2D is the transform in each size") {
    check<dense(f32, 2, 8, 16), dense(f32, 2, 8, 16), false>();
    check<dense(f32, 2, 8, 16), dense(f32, 2, 8, 16), true>();
    check<dense(f32, 1, 32, 4), dense(f32, 1, 32, 4), false>();
    check<dense(f32, 1, 1, 64), dense(f32, 1, 1, 64), false>();
    check<dense(f32, 3, 2, 1), dense(f32, 3, 2, 1), false>();
    check<dense(f32, 1, 1, 1), dense(f32, 1, 1, 1), false>();
    constexpr tensor turned{.type = f32, .rank = 3, .size = {1, 8, 4}, .stride = {32, 1, 8}, .span = 32};
    check<dense(f32, 1, 8, 4), turned, false>();
}

TEST_CASE("RFFT2D has half of the columns") {
    check_real<dense(f32, 2, 8, 16), dense(f32, 2, 8, 9)>();
    check_real<dense(f32, 1, 1, 256), dense(f32, 1, 1, 129)>();
    check_real<dense(f32, 1, 16, 1), dense(f32, 1, 16, 1)>();
    check_real<dense(f32, 1, 2, 2), dense(f32, 1, 2, 2)>();
}

static_assert([] {
    const float x[]{1, 2, 3, 4};
    float re[3]{}, im[3]{};
    hr::kernel<hr::rfft2d<dense(f32, 1, 1, 4), dense(f32, 1, 1, 3)>, hr::portable>::run(x, re, im, nullptr);
    return re[0] == 10 && re[2] == -2 && re[1] == -2 && im[1] == 2;
}());
