// SPDX-License-Identifier: MIT
// Defines headrace::erf_of_gelu, the error function in PyTorch's GELU.
#ifndef HEADRACE_EVAL_GELU_HPP
#define HEADRACE_EVAL_GELU_HPP

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

namespace headrace::eval {

/// erf(x / sqrt(2)) as rounded by PyTorch's GELU on x86-64 with AVX-512: polynomials of degree 5 in |x|, one
/// for each quarter of a binade, and 1 beyond. Constants: oneDNN 3.13, src/cpu/x64/injectors, minimax
/// polynomials.
[[nodiscard]] inline float erf_of_gelu(float x) {
    // Coefficients of a polynomial, constant term first.
    static constexpr std::array<std::array<float, 6>, 23> polynomials{{
        {0x1.04ef24p-26F, 0x1.98843ep-1F, 0x1.6bc99ep-17F, -0x1.108aep-3F, 0x1.e12f46p-12F, 0x1.36c0ap-6F},
        {0x1.039818p-24F, 0x1.98840ep-1F, 0x1.e5ff12p-16F, -0x1.10c736p-3F, 0x1.b08bb8p-11F, 0x1.2f1a22p-6F},
        {0x1.a47a94p-23F, 0x1.988396p-1F, 0x1.18477cp-14F, -0x1.11306ep-3F, 0x1.63f46ap-10F, 0x1.25d0ap-6F},
        {0x1.35889ap-21F, 0x1.988276p-1F, 0x1.2ea6b8p-13F, -0x1.11e812p-3F, 0x1.19df7p-9F, 0x1.1a0b16p-6F},
        {0x1.e6db1p-20F, 0x1.987f5ap-1F, 0x1.56556p-12F, -0x1.13572ap-3F, 0x1.ca756cp-9F, 0x1.0908a8p-6F},
        {0x1.dd0452p-18F, 0x1.98745ep-1F, 0x1.c1f5b6p-11F, -0x1.16cdap-3F, 0x1.95ca4ep-8F, 0x1.d9ac46p-7F},
        {0x1.714776p-16F, 0x1.985a8p-1F, 0x1.f372cp-10F, -0x1.1c8014p-3F, 0x1.442e24p-7F, 0x1.990496p-7F},
        {0x1.cf4426p-15F, 0x1.9828d4p-1F, 0x1.dca922p-9F, -0x1.249bfp-3F, 0x1.d8b08p-7F, 0x1.54f26ap-7F},
        {0x1.800676p-13F, 0x1.978682p-1F, 0x1.149d8ap-7F, -0x1.37bc04p-3F, 0x1.814e06p-6F, 0x1.c1672p-8F},
        {0x1.54b43ap-11F, 0x1.95a118p-1F, 0x1.4b5518p-6F, -0x1.5e3392p-3F, 0x1.3b9832p-5F, 0x1.0ca358p-9F},
        {0x1.c6b0c6p-10F, 0x1.91f19ep-1F, 0x1.4271b2p-5F, -0x1.92637ep-3F, 0x1.c6cadap-5F, -0x1.465ea6p-9F},
        {0x1.f051e4p-9F, 0x1.8bf58ep-1F, 0x1.0e6fa8p-4F, -0x1.d0bf78p-3F, 0x1.2ab20ep-4F, -0x1.a85f4p-8F},
        {0x1.116296p-7F, 0x1.809c0ep-1F, 0x1.bf6ccp-4F, -0x1.1392bep-2F, 0x1.7f322p-4F, -0x1.58a6ccp-7F},
        {0x1.a2bda6p-7F, 0x1.77301ep-1F, 0x1.1e4f56p-3F, -0x1.2d9794p-2F, 0x1.aa7ed2p-4F, -0x1.92593cp-7F},
        {-0x1.a0646cp-9F, 0x1.91bfe6p-1F, 0x1.280096p-4F, -0x1.008954p-2F, 0x1.6fb9dep-4F, -0x1.54f54cp-7F},
        {-0x1.1b1cbcp-4F, 0x1.f16436p-1F, -0x1.1dfbd6p-3F, -0x1.0aa1e4p-3F, 0x1.c73d7cp-5F, -0x1.aaba08p-8F},
        {-0x1.1579b2p-2F, 0x1.760e08p+0F, -0x1.3b2d86p-1F, 0x1.9fad42p-4F, -0x1.ddbc9p-11F, -0x1.0474ecp-10F},
        {-0x1.183344p-1F, 0x1.033864p+1F, -0x1.13b6bp+0F, 0x1.29904cp-2F, -0x1.457cd2p-5F, 0x1.20555p-9F},
        {-0x1.99665p-2F, 0x1.ca6dacp+0F, -0x1.db312ep-1F, 0x1.f268bep-3F, -0x1.0839e2p-5F, 0x1.c4b4fcp-10F},
        {0x1.2ed9dap-3F, 0x1.02663cp+0F, -0x1.ed3f7p-2F, 0x1.d9d922p-4F, -0x1.c9eb56p-7F, 0x1.63ef24p-11F},
        {0x1.8e1b32p-1F, 0x1.d90d08p-3F, -0x1.89f15p-4F, 0x1.48cadp-6F, -0x1.12f464p-9F, 0x1.7086eap-14F},
        {0x1.f5765p-1F, 0x1.31f26cp-6F, -0x1.bcc844p-8F, 0x1.43c014p-10F, -0x1.d7e7p-14F, 0x1.1376b4p-18F},
        {0x1p+0F, 0, 0, 0, 0, 0},
    }};
    constexpr float last = 0x1.62b9dcp+2F;
    constexpr std::int32_t first_piece = 0x3e000001;
    const float magnitude = std::fabs(x);
    if (std::isinf(x)) return x > 0 ? 1.0F : -1.0F;  // polynomials of infinity are NaN
    const std::int32_t piece = (std::bit_cast<std::int32_t>(magnitude) - first_piece) >> 21;
    const auto& c = polynomials[magnitude > last ? 22U : static_cast<unsigned>(std::clamp(piece, 0, 22))];
    float y = c[5];
    for (int degree = 4; degree >= 0; --degree) y = std::fma(y, magnitude, c[static_cast<unsigned>(degree)]);
    return std::signbit(x) ? -y : y;
}

}  // namespace headrace::eval

#endif
