// SPDX-License-Identifier: MIT
// Defines convolutions of all shapes, layouts and scales, and how each is compared with loops written from
// TOSA's text.
#ifndef HEADRACE_TESTS_ON_DEVICE_CONV2D_CASES_HPP
#define HEADRACE_TESTS_ON_DEVICE_CONV2D_CASES_HPP

#include <headrace/on_device/conv2d.hpp>

namespace cases {
using namespace headrace::on_device;

struct random {
    std::uint32_t state = 1;
    constexpr std::uint32_t operator()() { return state = state * 1664525u + 1013904223u, state >> 8; }
    /// All magnitudes, and the extremes more often than others.
    constexpr std::int8_t byte() {
        const std::uint32_t r = (*this)();
        if (r % 16 == 0) return r & 16 ? 127 : -128;
        return static_cast<std::int8_t>(static_cast<std::int8_t>(r >> 8) >> (r % 8 == 1 ? 4 : 0));
    }
};

/// The convolution as a generator would describe it for a core: `shift` decides the form of the scale.
template <class Core>
constexpr convolution described(convolution s, std::int32_t shift, std::int32_t output_zero) {
    if (s.scale != scaling::none) {
        const std::int32_t multipliers[] = {0x7fffffff};
        const std::int8_t shifts[] = {static_cast<std::int8_t>(shift)};
        s.scale = choose_scaling(
            Core::id, multipliers, shifts, output_zero, s.depth() * 16384 + 40000, s.output.type);
    }
    s.weights = best_packing(s, Core::id);
    return s;
}

constexpr std::int64_t power(int n) { return std::int64_t{1} << n; }

template <convolution S, std::int32_t shift, std::int32_t output_zero>
constexpr std::int32_t expected(std::int32_t sum, std::int32_t multiplier, std::int32_t s) {
    if (S.scale == scaling::none) return sum;
    std::int64_t v = ((std::int64_t{sum} * multiplier + power(s - 1)) >> s) + output_zero;
    const bool is_unsigned = S.output.type == element::uint8, is_wide = S.output.type == element::int16;
    const std::int64_t low = is_unsigned ? 0
        : is_wide                        ? -32768
                                         : -128,
                       high = is_unsigned ? 255
        : is_wide                         ? 32767
                                          : 127;
    v = v < low ? low : v > high ? high : v;
    return static_cast<std::int32_t>(v < S.minimum ? S.minimum : v > S.maximum ? S.maximum : v);
}

struct residual {
    static constexpr auto of(auto v, auto other) { return clamp<-100, 120>(add(v, other)); }
};
constexpr std::int32_t with_residual(std::int32_t v, std::int32_t other) {
    return v + other < -100 ? -100 : v + other > 120 ? 120 : v + other;
}

template <convolution S>
struct memory {
    alignas(16) element_t<S.input.type> x[static_cast<std::size_t>(S.input.span)];
    alignas(16) element_t<S.output.type> y[static_cast<std::size_t>(S.output.span)];
    std::int8_t original[static_cast<std::size_t>(S.input.span)],
        extra[static_cast<std::size_t>(S.output.span)];
    std::int8_t raw[static_cast<std::size_t>(S.out_channels() * S.depth())];
    alignas(16) std::int8_t w[static_cast<std::size_t>(packed_elements(S))];
    std::conditional_t<S.scale == scaling::none, std::int32_t, channel>
        q[static_cast<std::size_t>(packed_channels(S))];
    std::int32_t bias[static_cast<std::size_t>(S.out_channels())];
};

/// How many values of a random convolution differ from what TOSA says (2.2.3 and 2.2.5 with RESCALE behind
/// it), and how many elements that are not results were written.
template <convolution Described, std::int32_t shift, std::int32_t output_zero, class Core,
    bool is_residual = false>
std::int32_t differences(std::uint32_t seed) {
    static constexpr convolution S = described<Core>(Described, shift, output_zero);
    static memory<S> m;
    random r{seed};
    for (auto& v : m.x) v = r.byte();
    for (auto& v : m.y) v = 77;
    for (auto& v : m.w) v = 0;
    for (auto& v : m.extra) v = r.byte();
    for (std::int32_t i = 0; i != S.input.span; ++i) m.original[i] = m.x[i];
    const auto rescale = [](std::int32_t c) { return 0x40000000 + c * 7919; };
    const auto shift_of = [](std::int32_t c) { return shift + (shift > 33 ? c % 3 - 1 : 0); };
    for (std::int32_t c = 0; c != S.out_channels(); ++c) {
        std::int32_t sum = 0;
        for (std::int32_t k = 0; k != S.depth(); ++k) {
            const std::int8_t v = r.byte();
            m.raw[c * S.depth() + k] = v, m.w[weight_at(S, c, k)] = v, sum += v - S.weight_zero;
        }
        m.bias[c] = static_cast<std::int32_t>(r() % 20000) - 10000;
        const std::int32_t folded = m.bias[c] - S.input_zero * sum;
        if constexpr (S.scale == scaling::none)
            m.q[c] = folded;
        else
            m.q[c] = make_channel(folded, rescale(c), shift_of(c), output_zero, S.scale);
    }
    auto* const y = [] {
        if constexpr (S.is_in_place)
            return m.x;
        else
            return m.y;
    }();
    alignas(16) static std::int8_t scratch[static_cast<std::size_t>(choose(S, Core::id).scratch + 16)];
    for (auto& v : scratch) v = 99;
    if constexpr (S.is_over_extra) {
        for (std::int32_t i = 0; i != S.output.span; ++i) y[i] = m.extra[i];
        kernel<conv2d<S, residual, S.output>, Core>::run(m.x, y, m.w, m.q, y, scratch);
    } else if constexpr (is_residual)
        kernel<conv2d<S, residual, S.output>, Core>::run(m.x, m.extra, m.w, m.q, y, scratch);
    else
        kernel<conv2d<S>, Core>::run(m.x, m.w, m.q, y, scratch);

    std::int32_t wrong = 0;
    for (std::int32_t i = 0; i != 16; ++i) wrong += scratch[choose(S, Core::id).scratch + i] != 99;
    static bool is_result[static_cast<std::size_t>(S.output.span)];
    for (auto& v : is_result) v = false;
    const std::int32_t ics = S.is_depthwise ? 1 : S.in_channels();
    for (std::int32_t n = 0; n != S.output.size[0]; ++n)
        for (std::int32_t oy = 0; oy != S.output.size[1]; ++oy)
            for (std::int32_t ox = 0; ox != S.output.size[2]; ++ox)
                for (std::int32_t oc = 0; oc != S.out_channels(); ++oc) {
                    std::int32_t sum = m.bias[oc];
                    for (std::int32_t ky = 0; ky != S.kernel.height; ++ky)
                        for (std::int32_t kx = 0; kx != S.kernel.width; ++kx)
                            for (std::int32_t ic = 0; ic != ics; ++ic) {
                                const std::int32_t iy =
                                    oy * S.stride.height - S.pad.top + ky * S.dilation.height;
                                const std::int32_t ix =
                                    ox * S.stride.width - S.pad.left + kx * S.dilation.width;
                                if (iy < 0 || iy >= S.input.size[1] || ix < 0 || ix >= S.input.size[2])
                                    continue;
                                const std::int32_t c = S.is_depthwise ? oc / S.multiplier() : ic;
                                sum += (m.original[S.input.at(n, iy, ix, c)] - S.input_zero) *
                                    (m.raw[oc * S.depth() + (ky * S.kernel.width + kx) * ics + ic] -
                                        S.weight_zero);
                            }
                    const std::int32_t at = S.output.at(n, oy, ox, oc);
                    std::int32_t v = expected<S, shift, output_zero>(sum, rescale(oc), shift_of(oc));
                    if (is_residual) v = with_residual(v, m.extra[at]);
                    is_result[at] = true;
                    wrong += static_cast<std::int32_t>(y[at]) != v;
                }
    for (std::int32_t i = 0; i != S.output.span; ++i)
        if (!is_result[i]) wrong += y[i] != (S.is_in_place ? m.original[i] : 77);
    return wrong;
}

constexpr tensor image(
    std::int32_t n, std::int32_t h, std::int32_t w, std::int32_t c, element e = element::int8) {
    return dense(e, n, h, w, c);
}
constexpr tensor image_planes(
    std::int32_t h, std::int32_t w, std::int32_t c, std::int32_t gap = 0, std::int32_t row_gap = 0) {
    return planes(element::int8, h, w, c, 0, gap, row_gap, 0, 0);
}
/// Rows and pixels backwards, with gaps.
constexpr tensor reversed(std::int32_t h, std::int32_t w, std::int32_t c) {
    tensor t = dense(element::int8, 1, h, w, c);
    t.stride[1] = -w * (c + 1), t.stride[2] = -(c + 1);
    t.span = h * w * (c + 1), t.offset = t.span - (c + 1);
    return t;
}

/// The channels [first, first + count) of an image.
constexpr tensor channels_of(tensor t, std::int32_t first, std::int32_t count) {
    t.offset += first * t.stride[3], t.size[3] = count;
    return t;
}

/// Calls `take.operator()<convolution, shift, output zero, is residual>(name)` for each.
template <class Take>
void for_each(Take take) {
    constexpr auto how = scaling::wide;
#define HEADRACE_CASE(shift, zero, is_residual, ...) \
    take.template operator()<convolution{__VA_ARGS__}, shift, zero, is_residual>(#__VA_ARGS__)
#define HEADRACE_PLAIN(...) HEADRACE_CASE(39, -128, false, __VA_ARGS__)
    // Pointwise: depths and channels that fill blocks and those that do not, one pixel and odd numbers of
    // them.
    HEADRACE_PLAIN(.input = image(1, 5, 5, 64), .output = image(1, 5, 5, 64), .input_zero = -128,
        .scale = how);
    HEADRACE_PLAIN(.input = image(1, 5, 5, 64), .output = image_planes(5, 5, 64), .input_zero = 5,
        .scale = how);
    HEADRACE_PLAIN(.input = image_planes(5, 5, 64), .output = image_planes(5, 5, 64), .input_zero = 5,
        .scale = how, .is_in_place = true);
    HEADRACE_PLAIN(.input = image_planes(7, 3, 32, 4), .output = image_planes(7, 3, 18, 4), .scale = how,
        .is_in_place = true);
    HEADRACE_PLAIN(.input = image_planes(7, 9, 32, 3, 2), .output = image(1, 7, 9, 8), .scale = how);
    HEADRACE_PLAIN(.input = image(1, 5, 5, 13), .output = image(1, 5, 5, 7), .input_zero = 3, .scale = how);
    HEADRACE_PLAIN(.input = image_planes(3, 5, 13), .output = image_planes(3, 5, 7), .scale = how);
    HEADRACE_PLAIN(.input = image(1, 1, 1, 64), .output = image(1, 1, 1, 12), .input_zero = -128,
        .scale = how);
    HEADRACE_PLAIN(.input = image(1, 1, 3, 1), .output = image(1, 1, 3, 1), .scale = how);
    // Planes that fill half a chunk, and pixels that fill no block.
    HEADRACE_PLAIN(.input = image_planes(4, 5, 8), .output = image_planes(4, 5, 6), .input_zero = 5,
        .scale = how);
    HEADRACE_PLAIN(.input = image_planes(3, 6, 24), .output = image(1, 3, 6, 5), .input_zero = 5,
        .scale = how);
    HEADRACE_PLAIN(.input = image(1, 1, 1, 13), .output = image(1, 1, 1, 5), .scale = how);
    HEADRACE_PLAIN(.input = image(1, 1, 1, 50), .output = image(1, 1, 1, 1), .scale = how);
    HEADRACE_PLAIN(.input = image(1, 1, 2, 8), .output = image_planes(1, 2, 7, 3), .scale = how);
    HEADRACE_PLAIN(.input = image(1, 2, 3, 9), .output = image(1, 2, 3, 10), .scale = how);
    HEADRACE_PLAIN(.input = image(3, 2, 2, 20), .output = image(3, 2, 2, 9), .scale = how);
    HEADRACE_PLAIN(.input = image(1, 4, 4, 300), .output = image(1, 4, 4, 5), .scale = how);
    HEADRACE_PLAIN(.input = image(1, 3, 3, 80), .output = image(1, 3, 3, 5), .scale = how);
    HEADRACE_PLAIN(.input = image(1, 3, 3, 96), .output = image(1, 3, 3, 6), .scale = how);
    HEADRACE_PLAIN(.input = image(1, 3, 3, 128), .output = image(1, 3, 3, 7), .scale = how);
    HEADRACE_PLAIN(.input = reversed(4, 3, 8), .output = reversed(4, 3, 6), .scale = how);
    HEADRACE_PLAIN(.input = image(1, 5, 5, 16), .output = image(1, 3, 3, 8), .stride = {2, 2}, .scale = how);
    // Windows: a first layer, K = 27, borders, strides, dilation, one column.
    HEADRACE_PLAIN(.input = image(1, 49, 10, 1), .output = image_planes(25, 5, 8), .kernel = {10, 4},
        .stride = {2, 2}, .pad = {5, 4, 1, 1}, .scale = how);
    HEADRACE_PLAIN(.input = image(1, 12, 12, 3), .output = image(1, 12, 12, 6), .kernel = {3, 3},
        .pad = {1, 1, 1, 1}, .input_zero = 7, .scale = how);
    HEADRACE_PLAIN(.input = image(1, 20, 20, 3), .output = image(1, 10, 10, 5), .kernel = {3, 3},
        .stride = {2, 2}, .pad = {0, 1, 0, 1}, .input_zero = -1, .scale = how);
    HEADRACE_PLAIN(.input = image(1, 9, 8, 16), .output = image(1, 9, 8, 10), .kernel = {3, 3},
        .pad = {1, 1, 1, 1}, .input_zero = -128, .scale = how);
    HEADRACE_PLAIN(.input = image(1, 9, 8, 32), .output = image(1, 5, 4, 6), .kernel = {3, 3},
        .stride = {2, 2}, .pad = {1, 1, 1, 0}, .input_zero = 9, .scale = how);
    HEADRACE_PLAIN(.input = image(1, 11, 9, 4), .output = image(1, 7, 5, 3), .kernel = {3, 3},
        .dilation = {2, 2}, .input_zero = 9, .scale = how);
    HEADRACE_PLAIN(.input = image_planes(6, 6, 4), .output = image_planes(6, 6, 4), .kernel = {3, 3},
        .pad = {1, 1, 1, 1}, .scale = how);
    HEADRACE_PLAIN(.input = image(2, 6, 5, 8), .output = image(2, 6, 5, 3), .kernel = {5, 3},
        .pad = {2, 2, 1, 1}, .scale = how);
    HEADRACE_PLAIN(.input = image(1, 30, 1, 12), .output = image(1, 28, 1, 4), .kernel = {3, 1},
        .scale = how);
    HEADRACE_PLAIN(.input = image(1, 3, 3, 2), .output = image(1, 1, 1, 4), .kernel = {3, 3}, .scale = how);
    // Windows with taps outside of the image at both ends, with none inside, and dilated.
    HEADRACE_PLAIN(.input = image(1, 5, 1, 16), .output = image(1, 5, 1, 6), .kernel = {3, 3},
        .pad = {1, 1, 1, 1}, .input_zero = 9, .scale = how);
    HEADRACE_PLAIN(.input = image(1, 4, 5, 48), .output = image(1, 9, 10, 3), .kernel = {2, 2},
        .pad = {3, 3, 3, 3}, .input_zero = 9, .scale = how);
    HEADRACE_PLAIN(.input = image(1, 4, 5, 50), .output = image(1, 9, 10, 3), .kernel = {2, 2},
        .pad = {3, 3, 3, 3}, .input_zero = 9, .scale = how);
    HEADRACE_PLAIN(.input = image(1, 7, 6, 16), .output = image(1, 7, 6, 5), .kernel = {3, 3},
        .dilation = {2, 2}, .pad = {2, 2, 2, 2}, .input_zero = 9, .scale = how);
    HEADRACE_PLAIN(.input = image(1, 7, 6, 21), .output = image(1, 7, 6, 5), .kernel = {3, 3},
        .dilation = {2, 2}, .pad = {2, 2, 2, 2}, .input_zero = 9, .scale = how);
    HEADRACE_PLAIN(.input = image_planes(9, 11, 9), .output = image(1, 9, 11, 4), .kernel = {3, 3},
        .pad = {1, 1, 1, 1}, .input_zero = 9, .scale = how);
    // Depthwise: narrow and wide rows, strides, multipliers, other windows, in place.
    HEADRACE_PLAIN(.input = image_planes(25, 5, 6), .output = image(1, 25, 5, 6), .is_depthwise = true,
        .kernel = {3, 3}, .pad = {1, 1, 1, 1}, .input_zero = -128, .scale = how);
    HEADRACE_PLAIN(.input = image_planes(25, 5, 6), .output = image_planes(25, 5, 6), .is_depthwise = true,
        .kernel = {3, 3}, .pad = {1, 1, 1, 1}, .input_zero = -128, .scale = how, .is_in_place = true);
    HEADRACE_PLAIN(.input = image(1, 8, 4, 5), .output = image(1, 8, 4, 5), .is_depthwise = true,
        .kernel = {3, 3}, .pad = {1, 1, 1, 1}, .input_zero = 4, .scale = how, .is_in_place = true);
    HEADRACE_PLAIN(.input = image_planes(9, 5, 3), .output = image_planes(5, 3, 3), .is_depthwise = true,
        .kernel = {3, 3}, .stride = {2, 2}, .pad = {1, 1, 1, 1}, .input_zero = 4, .scale = how);
    HEADRACE_PLAIN(.input = image_planes(24, 24, 3), .output = image_planes(24, 24, 3), .is_depthwise = true,
        .kernel = {3, 3}, .pad = {1, 1, 1, 1}, .input_zero = -7, .scale = how);
    HEADRACE_PLAIN(.input = image_planes(19, 21, 3), .output = image_planes(10, 11, 3), .is_depthwise = true,
        .kernel = {3, 3}, .stride = {2, 2}, .pad = {1, 1, 1, 1}, .input_zero = -7, .scale = how);
    HEADRACE_PLAIN(.input = image(1, 19, 21, 3), .output = image(1, 10, 11, 3), .is_depthwise = true,
        .kernel = {3, 3}, .stride = {2, 2}, .pad = {1, 1, 1, 1}, .input_zero = -7, .scale = how);
    HEADRACE_PLAIN(.input = image(1, 10, 9, 4), .output = image(1, 10, 9, 8), .is_depthwise = true,
        .kernel = {5, 5}, .pad = {2, 2, 2, 2}, .input_zero = 1, .scale = how);
    HEADRACE_PLAIN(.input = image(1, 10, 9, 4), .output = image(1, 8, 4, 4), .is_depthwise = true,
        .kernel = {3, 4}, .stride = {1, 2}, .scale = how);
    HEADRACE_PLAIN(.input = image(1, 10, 9, 4), .output = image(1, 6, 5, 4), .is_depthwise = true,
        .kernel = {3, 3}, .dilation = {2, 2}, .scale = how);
    HEADRACE_PLAIN(.input = image(1, 1, 17, 4), .output = image(1, 1, 17, 4), .is_depthwise = true,
        .kernel = {1, 3}, .pad = {0, 0, 1, 1}, .scale = how);
    HEADRACE_PLAIN(.input = image(1, 3, 3, 4), .output = image(1, 1, 1, 4), .is_depthwise = true,
        .kernel = {3, 3}, .scale = how);
    HEADRACE_PLAIN(.input = image(2, 6, 7, 2), .output = image(2, 6, 7, 2), .is_depthwise = true,
        .kernel = {3, 3}, .pad = {1, 1, 1, 1}, .input_zero = 3, .scale = how);
    // Depthwise with rows in memory: even and odd sizes, strides, borders on each side, gaps, multipliers.
    HEADRACE_PLAIN(.input = image_planes(6, 6, 3), .output = image_planes(6, 6, 3), .is_depthwise = true,
        .kernel = {3, 3}, .pad = {1, 1, 1, 1}, .input_zero = -128, .scale = how, .is_in_place = true);
    HEADRACE_PLAIN(.input = image_planes(7, 7, 2), .output = image(1, 7, 7, 2), .is_depthwise = true,
        .kernel = {3, 3}, .pad = {1, 1, 1, 1}, .input_zero = 11, .scale = how);
    HEADRACE_PLAIN(.input = image_planes(3, 3, 4), .output = image_planes(3, 3, 4), .is_depthwise = true,
        .kernel = {3, 3}, .pad = {1, 1, 1, 1}, .input_zero = 11, .scale = how);
    HEADRACE_PLAIN(.input = image_planes(3, 3, 4), .output = image_planes(1, 1, 4), .is_depthwise = true,
        .kernel = {3, 3}, .scale = how);
    HEADRACE_PLAIN(.input = image_planes(6, 6, 3, 5, 2), .output = image_planes(3, 3, 3, 1, 1),
        .is_depthwise = true, .kernel = {3, 3}, .stride = {2, 2}, .pad = {0, 1, 0, 1}, .input_zero = -7,
        .scale = how);
    HEADRACE_PLAIN(.input = image_planes(12, 32, 2), .output = image_planes(6, 16, 4), .is_depthwise = true,
        .kernel = {3, 3}, .stride = {2, 2}, .pad = {0, 1, 0, 1}, .input_zero = -7, .scale = how);
    HEADRACE_PLAIN(.input = image_planes(13, 9, 2), .output = image(1, 7, 5, 2), .is_depthwise = true,
        .kernel = {3, 3}, .stride = {2, 2}, .pad = {1, 1, 1, 1}, .input_zero = 3, .scale = how);
    HEADRACE_PLAIN(.input = image_planes(8, 14, 2), .output = image_planes(6, 12, 2), .is_depthwise = true,
        .kernel = {3, 3}, .scale = how);
    HEADRACE_PLAIN(.input = image_planes(8, 14, 2), .output = image_planes(3, 6, 2), .is_depthwise = true,
        .kernel = {3, 3}, .stride = {2, 2}, .scale = how);
    HEADRACE_PLAIN(.input = image_planes(5, 16, 2), .output = image_planes(7, 18, 2), .is_depthwise = true,
        .kernel = {3, 3}, .pad = {2, 2, 2, 2}, .input_zero = 9, .scale = how);
    HEADRACE_PLAIN(.input = image_planes(5, 17, 2), .output = image_planes(4, 10, 4), .is_depthwise = true,
        .kernel = {3, 3}, .stride = {2, 2}, .pad = {2, 2, 2, 2}, .input_zero = 9, .scale = how);
    HEADRACE_PLAIN(.input = image_planes(2, 70, 1), .output = image_planes(2, 70, 1), .is_depthwise = true,
        .kernel = {3, 3}, .pad = {1, 1, 1, 1}, .input_zero = 9, .scale = how);
    HEADRACE_PLAIN(.input = image_planes(60, 64, 1), .output = image_planes(30, 32, 1), .is_depthwise = true,
        .kernel = {3, 3}, .stride = {2, 2}, .pad = {0, 1, 0, 1}, .input_zero = 9, .scale = how);
    HEADRACE_PLAIN(.input = image_planes(60, 64, 1), .output = image_planes(60, 64, 1), .is_depthwise = true,
        .kernel = {3, 3}, .pad = {1, 1, 1, 1}, .input_zero = 9, .scale = how);
    // Scales that need 64 bits, clamps, other outputs, residual sums, no scale.
    HEADRACE_CASE(24, 3, false, .input = image(1, 4, 5, 12), .output = image(1, 4, 5, 6), .scale = how);
    HEADRACE_CASE(62, -5, false, .input = image(1, 4, 5, 12), .output = image(1, 4, 5, 6), .scale = how);
    HEADRACE_CASE(33, 100, false, .input = image(1, 4, 5, 1), .output = image(1, 4, 5, 6), .scale = how);
    HEADRACE_CASE(24, 3, false, .input = image(1, 4, 5, 2), .output = image(1, 4, 5, 2), .is_depthwise = true,
        .kernel = {3, 3}, .pad = {1, 1, 1, 1}, .scale = how);
    HEADRACE_CASE(39, -3, false, .input = image(1, 4, 5, 12), .output = image(1, 4, 5, 6), .scale = how,
        .minimum = -3, .maximum = 55);
    HEADRACE_CASE(39, -3, true, .input = image(1, 6, 6, 16), .output = image(1, 6, 6, 16), .kernel = {3, 3},
        .pad = {1, 1, 1, 1}, .scale = how);
    // Over the operand: whole blocks, a rest of pixels, windows too large for the stack, a clamp before the
    // sum.
    HEADRACE_CASE(39, -3, true, .input = image(1, 6, 6, 16), .output = image(1, 6, 6, 16), .kernel = {3, 3},
        .pad = {1, 1, 1, 1}, .scale = how, .is_over_extra = true);
    HEADRACE_CASE(39, -3, true, .input = image(1, 5, 5, 12), .output = image(1, 3, 3, 7), .stride = {2, 2},
        .scale = how, .minimum = -3, .maximum = 55, .is_over_extra = true);
    HEADRACE_CASE(39, 4, true, .input = image(1, 3, 3, 32), .output = image(1, 3, 3, 32), .kernel = {3, 3},
        .pad = {1, 1, 1, 1}, .scale = how, .is_over_extra = true);
    HEADRACE_CASE(24, 4, true, .input = image(2, 3, 3, 5), .output = image(2, 3, 3, 3), .scale = how,
        .is_over_extra = true);
    HEADRACE_CASE(39, -3, true, .input = image_planes(9, 6, 3), .output = image_planes(9, 6, 3),
        .is_depthwise = true, .kernel = {3, 3}, .pad = {1, 1, 1, 1}, .scale = how);
    HEADRACE_CASE(39, 128, false, .input = image(1, 4, 5, 12), .output = image(1, 4, 5, 6, element::uint8),
        .scale = how, .minimum = 0, .maximum = 255);
    HEADRACE_CASE(34, 0, false, .input = image(1, 4, 5, 12), .output = image(1, 4, 5, 6, element::int16),
        .scale = how, .minimum = -32768, .maximum = 32767);
    HEADRACE_PLAIN(.input = image(1, 6, 5, 3), .output = image(1, 6, 5, 6, element::int32), .kernel = {3, 3},
        .pad = {1, 1, 1, 1}, .input_zero = 5);
    HEADRACE_PLAIN(.input = image(1, 6, 5, 3), .output = image(1, 6, 5, 3, element::int32),
        .is_depthwise = true, .kernel = {3, 3}, .pad = {1, 1, 1, 1}, .input_zero = 5);
    // Weights with a zero point, and results that are a part of a larger image.
    HEADRACE_PLAIN(.input = image(1, 6, 5, 3), .output = image(1, 6, 5, 4), .kernel = {3, 3},
        .pad = {1, 1, 1, 1}, .input_zero = 5, .weight_zero = -9, .scale = how);
    HEADRACE_PLAIN(.input = image(1, 6, 5, 3), .output = image(1, 6, 5, 3), .is_depthwise = true,
        .kernel = {3, 3}, .pad = {1, 1, 1, 1}, .input_zero = 5, .weight_zero = 8, .scale = how,
        .is_in_place = true);
    HEADRACE_PLAIN(.input = image(1, 5, 7, 16), .output = channels_of(image(1, 5, 7, 23), 5, 9),
        .scale = how);
    HEADRACE_PLAIN(.input = image_planes(5, 7, 16), .output = channels_of(image_planes(5, 7, 23), 5, 9),
        .scale = how);
    HEADRACE_PLAIN(.input = image_planes(24, 24, 3), .output = channels_of(image_planes(24, 24, 9), 3, 3),
        .is_depthwise = true, .kernel = {3, 3}, .pad = {1, 1, 1, 1}, .scale = how);
    HEADRACE_PLAIN(.input = image_planes(9, 5, 3), .output = channels_of(image_planes(5, 3, 8), 4, 3),
        .is_depthwise = true, .kernel = {3, 3}, .stride = {2, 2}, .pad = {1, 1, 1, 1}, .scale = how);
#undef HEADRACE_PLAIN
#undef HEADRACE_CASE
}
}  // namespace cases

#endif
