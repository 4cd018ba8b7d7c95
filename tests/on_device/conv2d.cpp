// SPDX-License-Identifier: MIT
#include "conv2d_cases.hpp"

#include <algorithm>

#include <catch2/catch.hpp>

using namespace headrace::on_device;

namespace {
/// The portable kernels as constant expressions compute them.
struct in_compiler {
    static constexpr core_id id = core_id::portable;
    using next = portable;
};
}  // namespace

template <convolution S, class Finish, tensor... Extra>
struct headrace::on_device::kernel<conv2d<S, Finish, Extra...>, in_compiler> {
    static void run(const element_t<S.input.type>* x, const element_t<Extra.type>*... extra,
        const detail::weight_t<S>* w, const detail::per_channel_t<S>* q, element_t<S.output.type>* y,
        std::int8_t* = nullptr) {
        detail::convolve_in_compiler<S, Finish, Extra...>(x, extra..., w, q, y);
    }
};

TEST_CASE("convolutions of all shapes, layouts and scales are what TOSA says") {
    cases::for_each([]<auto S, auto shift, auto zero, bool is_residual>(const char* name) {
        INFO(name);
        for (std::uint32_t seed = 1; seed != 6; ++seed) {
            CHECK(cases::differences<S, shift, zero, portable, is_residual>(seed) == 0);
            CHECK(cases::differences<S, shift, zero, in_compiler, is_residual>(seed) == 0);
        }
    });
}

namespace {
constexpr convolution image_3x3{.input = dense(element::int8, 1, 4, 4, 2),
    .output = dense(element::int8, 1, 4, 4, 3),
    .kernel = {3, 3},
    .pad = {1, 1, 1, 1},
    .scale = scaling::high_word};

/// The corner of an image of threes with weights of two: 4 pixels of 2 channels, halved three times.
constexpr std::int8_t corner(packing p) {
    constexpr std::size_t most = 3 * 4 * 32;
    std::int8_t x[32]{}, w[most]{}, y[48]{};
    channel q[4]{};
    const auto fill = [&](convolution s) {
        for (auto& v : x) v = 3;
        for (std::int32_t c = 0; c != 3; ++c)
            for (std::int32_t k = 0; k != s.depth(); ++k) w[weight_at(s, c, k)] = 2;
        for (auto& c : q) c = make_channel(0, 1 << 30, 33, 5, scaling::high_word);
    };
    const auto run = [&]<packing P>() {
        constexpr convolution s = [] {
            convolution packed = image_3x3;
            packed.weights = P;
            return packed;
        }();
        fill(s);
        kernel<conv2d<s>, portable>::run(x, w, q, y);
    };
    if (p == packing::c4) run.template operator()<packing::c4>();
    if (p == packing::c2k4) run.template operator()<packing::c2k4>();
    if (p == packing::c4k16) run.template operator()<packing::c4k16>();
    if (p == packing::rows) run.template operator()<packing::rows>();
    return y[0];
}
// The portable kernel reads every packing, and runs in constant expressions.
static_assert(corner(packing::rows) == 11 && corner(packing::c4) == 11 && corner(packing::c2k4) == 11 &&
    corner(packing::c4k16) == 11);

constexpr bool places_are_distinct(packing p, std::int32_t channels, std::int32_t depth) {
    bool used[4096]{};
    for (std::int32_t c = 0; c != channels; ++c)
        for (std::int32_t k = 0; k != depth; ++k) {
            const std::int32_t at = packed_at(p, depth, c, k);
            if (at < 0 || at >= packed_elements(p, channels, depth) || used[at]) return false;
            used[at] = true;
        }
    return true;
}
static_assert(places_are_distinct(packing::c4, 7, 27) && places_are_distinct(packing::c2k4, 7, 27) &&
    places_are_distinct(packing::c4k16, 7, 27) && places_are_distinct(packing::rows, 7, 27));

constexpr convolution with(convolution s, core_id core) {
    s.weights = best_packing(s, core);
    return s;
}
static_assert(best_packing(image_3x3, core_id::dsp) == packing::c2k4);
static_assert(best_packing(image_3x3, core_id::portable) == packing::c4);
static_assert(*choose(with(image_3x3, core_id::dsp), core_id::dsp).because == 0);
static_assert(
    can_be_in_place({.input = dense(element::int8, 1, 2, 2, 4), .output = dense(element::int8, 1, 2, 2, 4)}));
static_assert(!can_be_in_place(image_3x3));
}  // namespace

TEST_CASE("a form of the scale is chosen only if it is exact for all sums") {
    using enum scaling;
    const std::int32_t multiplier[] = {0x7fffffff};
    const auto chosen = [&](core_id core, std::int8_t shift, std::int32_t zero, std::int64_t sum, element e) {
        return choose_scaling(core, multiplier, {&shift, 1}, zero, sum, e);
    };
    CHECK(chosen(core_id::dsp, 32, 0, 100, element::int8) == wide);
    CHECK(chosen(core_id::dsp, 33, 0, 100, element::int8) == high_word);
    CHECK(chosen(core_id::mve, 33, 0, 100, element::int8) == doubled);
    CHECK(chosen(core_id::mve, 33, 0, 100, element::int16) == high_word);
    CHECK(chosen(core_id::dsp, 54, -128, std::int64_t{1} << 31, element::int8) == high_word);
    CHECK(chosen(core_id::dsp, 62, 3, 100, element::int8) == wide);
    CHECK(chosen(core_id::dsp, 62, 2, 1 << 20, element::int8) == wide);

    // Each form that is exact gives what the wide one gives, at all magnitudes.
    cases::random r{7};
    for (int i = 0; i != 200000; ++i) {
        const std::int32_t shift = 2 + static_cast<std::int32_t>(r() % 61);
        const std::int32_t zero = r.byte(), factor = static_cast<std::int32_t>((r() << 8 ^ r()) & 0x7fffffff);
        const auto sum = static_cast<std::int32_t>((r() << 8 ^ r()) >> r() % 31) * (r() % 2 ? 1 : -1);
        const std::int64_t magnitude = sum < 0 ? -std::int64_t{sum} : sum;
        const auto value = [&]<scaling how>() {
            const channel q = make_channel(0, factor, shift, zero, how);
            return detail::saturated<std::int8_t>(std::int64_t{detail::scaled<how>(sum, q)});
        };
        const std::int8_t expected = value.template operator()<wide>();
        if (is_exact(high_word, factor, shift, zero, magnitude))
            REQUIRE(value.template operator()<high_word>() == expected);
        if (is_exact(doubled, factor, shift, zero, magnitude))
            REQUIRE(value.template operator()<doubled>() == expected);
    }
}

TEST_CASE("int16 and float32 convolutions") {
    constexpr tensor in16 = dense(element::int16, 1, 5, 4, 3), out16 = dense(element::int16, 1, 3, 2, 2);
    constexpr convolution s{.input = in16,
        .output = out16,
        .kernel = {3, 3},
        .scale = scaling::wide,
        .minimum = -32768,
        .maximum = 32767};
    cases::random r{3};
    std::int16_t x[60], y[12];
    std::int8_t w[54];
    wide_channel q[2];
    for (auto& v : x) v = static_cast<std::int16_t>(r.byte() * 256 + r.byte());
    for (auto& v : w) v = r.byte();
    for (std::int32_t c = 0; c != 2; ++c) q[c] = make_wide_channel(12345 - c * 99999, 20000 + c, 24, 0);
    kernel<conv2d<s>, portable>::run(x, w, q, y);
    std::int16_t z[12];
    kernel<conv2d<s>, in_compiler>::run(x, w, q, z);
    CHECK(std::ranges::equal(y, z));

    constexpr convolution f{.input = dense(element::float32, 1, 5, 4, 3),
        .output = dense(element::float32, 1, 3, 2, 2),
        .kernel = {3, 3}};
    float fx[60], fw[54], fy[12], fb[2] = {0.5F, -2.F};
    for (std::size_t i = 0; i != 60; ++i) fx[i] = static_cast<float>(x[i]) / 1000;
    for (std::size_t i = 0; i != 54; ++i) fw[i] = static_cast<float>(w[i]) / 100;
    kernel<conv2d<f>, portable>::run(fx, fw, fb, fy);
    float fz[12];
    kernel<conv2d<f>, in_compiler>::run(fx, fw, fb, fz);
    CHECK(std::ranges::equal(fy, fz));

    for (std::int32_t oy = 0; oy != 3; ++oy)
        for (std::int32_t ox = 0; ox != 2; ++ox)
            for (std::int32_t oc = 0; oc != 2; ++oc) {
                std::int64_t sum = 12345 - oc * 99999;
                double float_sum = static_cast<double>(fb[oc]);
                for (std::int32_t k = 0; k != 27; ++k) {
                    const std::int32_t at = ((oy + k / 9) * 4 + ox + k / 3 % 3) * 3 + k % 3;
                    sum += std::int64_t{x[at]} * w[oc * 27 + k];
                    float_sum += static_cast<double>(fx[at]) * static_cast<double>(fw[oc * 27 + k]);
                }
                const std::int64_t v = (sum * (20000 + oc) + (1 << 23)) >> 24;
                CHECK(y[(oy * 2 + ox) * 2 + oc] == std::clamp<std::int64_t>(v, -32768, 32767));
                CHECK(fy[(oy * 2 + ox) * 2 + oc] == Approx(float_sum).epsilon(1e-5));
            }
}
