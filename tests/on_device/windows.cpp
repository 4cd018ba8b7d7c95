// SPDX-License-Identifier: MIT
// Checks CONV3D, TRANSPOSE_CONV2D and RESIZE against loops from the text of the specification.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>

#include <catch2/catch.hpp>

#include <headrace/on_device/conv3d.hpp>
#include <headrace/on_device/functions.hpp>
#include <headrace/on_device/resize.hpp>
#include <headrace/on_device/transpose_conv.hpp>

#include "numbers.hpp"

namespace hr = headrace::on_device;
using hr::dense;
using hr::element;
using hr::scaling;
using hr::tensor;
using on_device_test::buffer;
using on_device_test::random_elements;

namespace {

std::int64_t scaled(
    std::int64_t v, std::int64_t multiplier, int shift, std::int64_t zero, std::int64_t lo, std::int64_t hi) {
    return std::clamp(((v * multiplier + (std::int64_t{1} << (shift - 1))) >> shift) + zero, lo, hi);
}
template <class Sum, class S>
void expect(Sum got, Sum exact, const S& where) {
    if constexpr (std::is_same_v<Sum, float>) {
        if (!(std::abs(got - exact) <= 1e-3F * (1 + std::abs(exact))))
            FAIL(where << ": " << got << ", not " << exact);
    } else {
        if (got != exact) FAIL(where << ": " << got << ", not " << exact);
    }
}
/// Constants of channels, and what they make of a sum.
template <hr::element In, scaling How>
struct channels {
    using sums = hr::detail::window_sums<In>;
    using type = typename sums::template per_channel<How>;
    static type make(std::mt19937& random) {
        const auto bias = static_cast<std::int32_t>(random() % 2001) - 1000;
        if constexpr (How == scaling::none)
            return static_cast<type>(bias);
        else if constexpr (sums::is_wide)
            return hr::make_wide_channel(bias, 20000 + static_cast<int>(random() % 9000), 30, 3);
        else
            return hr::make_channel(bias, (1 << 30) + static_cast<int>(random() % 1000000),
                How == scaling::wide ? 31 : 37, 3, How);
    }
    static auto finish(typename sums::sum sum, const type& q) {
        if constexpr (How == scaling::none)
            return sum;
        else if constexpr (sums::is_wide)
            return scaled(sum, q.multiplier, 30, 3, -100, 90);
        else
            return scaled(sum, q.multiplier, How == scaling::wide ? 31 : 37, 3, -100, 90);
    }
};

template <hr::convolution3d S>
void check_conv3d() {
    std::mt19937 random(1);
    using c = channels<S.input.type, S.scale>;
    using sum_type = typename c::sums::sum;
    constexpr element kind = S.input.type == element::float32 ? element::float32 : element::int8;
    constexpr tensor w = S.is_depthwise
        ? dense(kind, S.kernel.height, S.kernel.width, S.output.size[4])
        : dense(kind, S.output.size[4], S.kernel.depth, S.kernel.height, S.kernel.width, S.input.size[4]);
    const auto in = random_elements<S.input.type>(random, S.input.span);
    const auto weights = random_elements<w.type>(random, w.span);
    buffer<typename c::type> q(S.output.size[4]);
    for (int i = 0; i != q.size(); ++i) q[i] = c::make(random);
    auto out = random_elements<S.output.type>(random, S.output.span);
    hr::kernel<hr::conv3d<S>, hr::native>::run(in.data(), weights.data(), q.data(), out.data());
    const tensor from = S.input, to = S.output;
    for (int n = 0; n != to.size[0]; ++n)
        for (int d = 0; d != to.size[1]; ++d)
            for (int y = 0; y != to.size[2]; ++y)
                for (int x = 0; x != to.size[3]; ++x)
                    for (int o = 0; o != to.size[4]; ++o) {
                        sum_type sum = hr::detail::bias_of(q[o]);
                        for (int i = 0; i != S.kernel.depth; ++i)
                            for (int j = 0; j != S.kernel.height; ++j)
                                for (int k = 0; k != S.kernel.width; ++k)
                                    for (int ic = 0; ic != S.channels(); ++ic) {
                                        const int id =
                                            d * S.stride.depth - S.pad.depth + i * S.dilation.depth;
                                        const int iy =
                                            y * S.stride.height - S.pad.height + j * S.dilation.height;
                                        const int ix =
                                            x * S.stride.width - S.pad.width + k * S.dilation.width;
                                        if (id < 0 || iy < 0 || ix < 0 || id >= from.size[1] ||
                                            iy >= from.size[2] || ix >= from.size[3])
                                            continue;
                                        const int channel =
                                            S.is_depthwise ? o * from.size[4] / to.size[4] : ic;
                                        const int place =
                                            S.is_depthwise ? w.at(j, k, o) : w.at(o, i, j, k, ic);
                                        sum += static_cast<sum_type>(in[from.at(n, id, iy, ix, channel)] -
                                                   static_cast<hr::element_t<S.input.type>>(S.input_zero)) *
                                            (static_cast<sum_type>(weights[place]) -
                                                static_cast<sum_type>(S.weight_zero));
                                    }
                        const auto exact = static_cast<hr::element_t<S.output.type>>(c::finish(sum, q[o]));
                        expect(out[to.at(n, d, y, x, o)], exact, "conv3d");
                    }
}

template <hr::transposed_convolution S>
void check_transposed() {
    std::mt19937 random(2);
    using c = channels<S.input.type, S.scale>;
    using sum_type = typename c::sums::sum;
    constexpr tensor w = dense(S.input.type == element::float32 ? element::float32 : element::int8,
        S.output.size[3], S.kernel.height, S.kernel.width, S.input.size[3]);
    const auto in = random_elements<S.input.type>(random, S.input.span);
    const auto weights = random_elements<w.type>(random, w.span);
    buffer<typename c::type> q(S.output.size[3]);
    for (int i = 0; i != q.size(); ++i) q[i] = c::make(random);
    auto out = random_elements<S.output.type>(random, S.output.span);
    hr::kernel<hr::transpose_conv2d<S>, hr::native>::run(in.data(), weights.data(), q.data(), out.data());
    const tensor from = S.input, to = S.output;
    // The specification scatters: each element of the input adds a window to the output.
    const tensor dense_to = dense(S.output.type, to.size[0], to.size[1], to.size[2], to.size[3]);
    buffer<sum_type> sums(dense_to.span);
    for (int i = 0; i != sums.size(); ++i) sums[i] = hr::detail::bias_of(q[i % to.size[3]]);
    for (int n = 0; n != from.size[0]; ++n)
        for (int iy = 0; iy != from.size[1]; ++iy)
            for (int ix = 0; ix != from.size[2]; ++ix)
                for (int o = 0; o != to.size[3]; ++o)
                    for (int ic = 0; ic != from.size[3]; ++ic)
                        for (int j = 0; j != S.kernel.height; ++j)
                            for (int k = 0; k != S.kernel.width; ++k) {
                                const int oy = iy * S.stride.height + S.out_pad.top + j;
                                const int ox = ix * S.stride.width + S.out_pad.left + k;
                                if (oy < 0 || ox < 0 || oy >= to.size[1] || ox >= to.size[2]) continue;
                                sums[dense_to.at(n, oy, ox, o)] +=
                                    static_cast<sum_type>(in[from.at(n, iy, ix, ic)] -
                                        static_cast<hr::element_t<S.input.type>>(S.input_zero)) *
                                    (static_cast<sum_type>(weights[w.at(o, j, k, ic)]) -
                                        static_cast<sum_type>(S.weight_zero));
                            }
    for (int i = 0; i != sums.size(); ++i) {
        const auto exact = static_cast<hr::element_t<S.output.type>>(c::finish(sums[i], q[i % to.size[3]]));
        expect(out[on_device_test::place_of(to, i)], exact, "transpose_conv2d");
    }
}

template <hr::resizing R>
void check_resize() {
    std::mt19937 random(3);
    const auto in = random_elements<R.input.type>(random, R.input.span);
    auto out = random_elements<R.output.type>(random, R.output.span);
    hr::kernel<hr::resize<R>, hr::native>::run(in.data(), out.data());
    const tensor from = R.input, to = R.output;
    for (int n = 0; n != to.size[0]; ++n)
        for (int oy = 0; oy != to.size[1]; ++oy)
            for (int ox = 0; ox != to.size[2]; ++ox)
                for (int c = 0; c != to.size[3]; ++c) {
                    const double y = static_cast<double>(oy * R.y.denominator + R.y.offset) / R.y.numerator;
                    const double x = static_cast<double>(ox * R.x.denominator + R.x.offset) / R.x.numerator;
                    const int iy = static_cast<int>(std::floor(y)), ix = static_cast<int>(std::floor(x));
                    const double dy = y - iy, dx = x - ix;
                    const auto at = [&](int row, int column) {
                        row = std::clamp(row, 0, from.size[1] - 1);
                        column = std::clamp(column, 0, from.size[2] - 1);
                        return static_cast<double>(in[from.at(n, row, column, c)]);
                    };
                    double exact = 0;
                    if (R.mode == hr::resize_mode::nearest) {
                        exact = at(iy + (dy >= 0.5), ix + (dx >= 0.5));
                    } else {
                        exact = (at(iy, ix) * (1 - dx) + at(iy, ix + 1) * dx) * (1 - dy) +
                            (at(iy + 1, ix) * (1 - dx) + at(iy + 1, ix + 1) * dx) * dy;
                        if (R.input.type != element::float32)
                            exact = std::round(exact * R.y.numerator * R.x.numerator);
                    }
                    expect(
                        out[to.at(n, oy, ox, c)], static_cast<hr::element_t<R.output.type>>(exact), "resize");
                }
}
template <element In, element Out, hr::resize_mode M>
void check_resizes() {
    constexpr tensor image = dense(In, 2, 5, 6, 3);
    check_resize<hr::resizing{image, dense(Out, 2, 10, 12, 3), {4, 2, -1}, {4, 2, -1}, M}>();
    check_resize<hr::resizing{image, dense(Out, 2, 9, 11, 3), {4, 2, 0}, {4, 2, 0}, M}>();
    check_resize<hr::resizing{image, dense(Out, 2, 3, 4, 3), {6, 10, 2}, {6, 9, 0}, M}>();
    check_resize<hr::resizing{
        hr::planes(In, 5, 6, 3, 0, 2), hr::planes(Out, 13, 15, 3, 0, 1), {16, 6, 0}, {14, 5, 0}, M}>();
    check_resize<hr::resizing{dense(In, 1, 1, 1, 3), dense(Out, 1, 4, 5, 3), {4, 1, 0}, {5, 1, 0}, M}>();
}

constexpr element i8 = element::int8, i16 = element::int16, i32 = element::int32, i48 = element::int48,
                  f32 = element::float32;

}  // namespace

namespace {
constexpr tensor small_volume = dense(i8, 1, 4, 5, 6, 3), small_result = dense(i8, 1, 5, 3, 5, 4);
constexpr hr::convolution3d plain{.input = small_volume,
    .output = small_result,
    .kernel = {2, 3, 2},
    .stride = {1, 2, 1},
    .dilation = {1, 1, 1},
    .pad = {1, 1, 0}};
constexpr auto with = [](auto change) {
    hr::convolution3d s = plain;
    change(s);
    return s;
};
constexpr auto limited = [](hr::convolution3d& s, std::int32_t zero, scaling how) {
    s.input_zero = zero, s.minimum = -100, s.maximum = 90, s.scale = how;
};
}  // namespace

TEST_CASE("CONV3D") {
    check_conv3d<with([](auto& s) {
        s.input = dense(i8, 2, 4, 5, 6, 3), s.output = dense(i32, 2, 5, 3, 5, 4), s.input_zero = 7;
    })>();
    check_conv3d<with([](auto& s) {
        s.output = dense(i8, 1, 3, 1, 4, 4), s.dilation = {1, 2, 2}, s.pad = {0, 0, 0};
        limited(s, -128, scaling::high_word);
    })>();
    check_conv3d<with([](auto& s) { limited(s, 3, scaling::wide), s.weight_zero = -6; })>();
    check_conv3d<with(
        [](auto& s) { s.input = dense(i16, 1, 4, 5, 6, 3), s.output = dense(i48, 1, 5, 3, 5, 4); })>();
    check_conv3d<with([](auto& s) {
        s.input = dense(i16, 1, 4, 5, 6, 3), s.output = dense(i16, 1, 5, 3, 5, 4);
        limited(s, 0, scaling::wide);
    })>();
    check_conv3d<with(
        [](auto& s) { s.input = dense(f32, 1, 4, 5, 6, 3), s.output = dense(f32, 1, 5, 3, 5, 4); })>();
    // Depthwise: one layer of a volume, and a multiplier of two.
    check_conv3d<with([](auto& s) {
        s.input = dense(i8, 2, 1, 5, 6, 3), s.output = dense(i32, 2, 1, 3, 5, 6);
        s.kernel.depth = 1, s.pad.depth = 0, s.is_depthwise = true, s.input_zero = 4, s.weight_zero = 9;
    })>();
}

TEST_CASE("TRANSPOSE_CONV2D") {
    using hr::transposed_convolution;
    check_transposed<transposed_convolution{.input = dense(i8, 2, 4, 5, 3),
        .output = dense(i32, 2, 9, 11, 4),
        .kernel = {3, 3},
        .stride = {2, 2},
        .input_zero = 7,
        .weight_zero = -3}>();
    check_transposed<transposed_convolution{.input = dense(i8, 1, 4, 5, 3),
        .output = dense(i8, 1, 8, 10, 4),
        .kernel = {3, 3},
        .stride = {2, 2},
        .out_pad = {-1, 0, 0, -1},
        .input_zero = -5,
        .minimum = -100,
        .maximum = 90,
        .scale = scaling::high_word}>();
    check_transposed<transposed_convolution{.input = hr::planes(i8, 4, 5, 3, 0, 2),
        .output = hr::planes(i8, 12, 16, 2, 0, 3),
        .kernel = {2, 4},
        .stride = {3, 3},
        .out_pad = {1, 0, 0, 0},
        .input_zero = -5,
        .minimum = -100,
        .maximum = 90,
        .scale = scaling::wide}>();
    check_transposed<transposed_convolution{.input = dense(i16, 1, 4, 5, 3),
        .output = dense(i48, 1, 6, 7, 4),
        .kernel = {3, 3},
        .stride = {1, 1}}>();
    check_transposed<transposed_convolution{.input = dense(f32, 1, 4, 5, 3),
        .output = dense(f32, 1, 7, 9, 4),
        .kernel = {1, 1},
        .stride = {2, 2}}>();
}

TEST_CASE("RESIZE") {
    using hr::resize_mode;
    check_resizes<i8, i8, resize_mode::nearest>();
    check_resizes<i16, i16, resize_mode::nearest>();
    check_resizes<f32, f32, resize_mode::nearest>();
    check_resizes<i8, i32, resize_mode::bilinear>();
    check_resizes<i16, i48, resize_mode::bilinear>();
    check_resizes<f32, f32, resize_mode::bilinear>();
}
