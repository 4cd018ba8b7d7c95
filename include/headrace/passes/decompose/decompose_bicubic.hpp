// SPDX-License-Identifier: MIT
// Defines headrace::decompose_bicubic.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_BICUBIC_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_BICUBIC_HPP

#include <algorithm>
#include <cmath>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/pass/arithmetic.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/resizing.hpp>

namespace headrace {

/// A row of R has the weights of the four elements around its position, those beyond the edge at the edge
/// (Keys' kernel with -3/4, as PyTorch has it). RESIZE interpolates linearly at most (TOSA 1.0, 2.11.1), but
/// matrices can be multiplied.
struct decompose_bicubic : pass {
    using phase = decomposition;
    static constexpr std::string_view summary =
        "bicubic resampling as R · x · Sᵀ, with constant weights R and S";

    using resamplings = ops<aten::upsample_bicubic2d, aten::upsample_bicubic2d_vec>;

    // clang-format off
    static auto rewrites() {
        return real_rules(on_each<resamplings> = [](auto x, const auto& a) {
            const auto scales = resize_scales(a);
            const auto along = [&](std::size_t i) {
                return axis{x.shape()[i], x.result_meta().shape[i], scales[i - 2], a.align_corners};
            };
            const auto matrix = [&](const axis& i, bool transposed) {
                const shape_builder shape{1, 1, transposed ? i.in : i.out, transposed ? i.out : i.in};
                const bool small = x.may_compute(saturating_mul(i.in, i.out), dtype::float32);
                return x.tensor(dtype::float32, shape,
                                small ? weights_of(i, transposed) : pmr_vector<float>());
            };
            return call<aten::matmul>(call<aten::matmul>(matrix(along(2), false), x), matrix(along(3), true));
        });
    }
    // clang-format on

private:
    struct axis {
        std::int64_t in, out;
        double scale;  ///< 0: from the sizes
        bool align_corners;
    };

    // PyTorch computes positions in float32.
    static float position_of(const axis& a, std::int64_t o) {
        const auto n = static_cast<float>(o);
        if (a.align_corners) {
            return a.out > 1 ? n * (static_cast<float>(a.in - 1) / static_cast<float>(a.out - 1)) : 0.F;
        }
        const float step = a.scale > 0 ? static_cast<float>(1 / a.scale)
                                       : static_cast<float>(a.in) / static_cast<float>(a.out);
        return step * (n + 0.5F) - 0.5F;
    }
    static double kernel(double distance) {
        constexpr double s = -0.75;
        const double x = std::abs(distance);
        return x <= 1 ? ((s + 2) * x - (s + 3)) * x * x + 1 : ((s * x - 5 * s) * x + 8 * s) * x - 4 * s;
    }
    static pmr_vector<float> weights_of(const axis& a, bool transposed) {
        pmr_vector<float> matrix(static_cast<std::size_t>(a.in * a.out), 0.F);
        for (std::int64_t o = 0; o != a.out; ++o) {
            const float position = position_of(a, o);
            const float first = std::floor(position);
            for (std::int64_t tap = -1; tap != 3; ++tap) {
                const std::int64_t i =
                    std::clamp<std::int64_t>(static_cast<std::int64_t>(first) + tap, 0, a.in - 1);
                const double distance = static_cast<double>(tap) - static_cast<double>(position - first);
                matrix[static_cast<std::size_t>(transposed ? i * a.out + o : o * a.in + i)] +=
                    static_cast<float>(kernel(distance));
            }
        }
        return matrix;
    }
};
HEADRACE_COMPILED_PASS(decompose_bicubic);

}  // namespace headrace

#endif
