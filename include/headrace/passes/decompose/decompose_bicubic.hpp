// SPDX-License-Identifier: MIT
// Defines headrace::decompose_bicubic.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_BICUBIC_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_BICUBIC_HPP

#include <algorithm>
#include <cmath>
#include <memory_resource>
#include <vector>

#include <headrace/dialect/aten.hpp>
#include <headrace/infer/aten.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/formula.hpp>
#include <headrace/passes/support/resizing.hpp>

namespace headrace {

/// Bicubic resampling is linear and separable: R · x · Sᵀ for each image x, where a row of R has the
/// weights of the four elements around its position, those beyond the edge at the edge (Keys' kernel with
/// -3/4, as PyTorch has it). RESIZE interpolates linearly at most (TOSA 1.0, 2.11.1), but matrices can be
/// multiplied.
struct decompose_bicubic : pass {
    using phase = decomposition;
    using targets = ops<aten::upsample_bicubic2d, aten::upsample_bicubic2d_vec>;
    using produces = ops<aten::matmul, aten::_to_copy>;

    template <one_of<targets> Op>
    value operator()(Op, const args<Op>& a, emit<produces>& e) const {
        const auto input = formula::real(e, resized_input(a));
        const int_list in = e.shape(input.v);
        const int_list out = e.result_meta().shape;
        const auto scales = resize_scales(a);
        const auto weights = [&](std::size_t axis, bool transposed) {
            return weights_of({in[axis], out[axis], scales[axis - 2], a.align_corners}, transposed);
        };
        const std::int64_t left[] = {1, 1, out[2], in[2]};
        const std::int64_t right[] = {1, 1, in[3], out[3]};
        const auto matrix = [&](sizes shape, const std::pmr::vector<float>& elements) {
            return e.constant<float>(dtype::float32, shape, elements);
        };
        const value rows = e.make<aten::matmul>(matrix(left, weights(2, false)), input.v);
        const value image = e.make<aten::matmul>(rows, matrix(right, weights(3, true)));
        return in_result_type(formula::term_of(e, image));
    }

private:
    struct resampled {
        std::int64_t in, out;
        double scale;  ///< 0: from the sizes
        bool align_corners;
    };

    // PyTorch computes positions in float32.
    static float position_of(const resampled& a, std::int64_t o) {
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
    static std::pmr::vector<float> weights_of(const resampled& a, bool transposed) {
        std::pmr::vector<float> matrix(static_cast<std::size_t>(a.in * a.out), 0.F);
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

}  // namespace headrace

#endif
