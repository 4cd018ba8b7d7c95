// SPDX-License-Identifier: MIT
// Defines the derivatives of convolutions, MATMUL and poolings, for headrace/prove/gradient.hpp.
#include <cstdint>
#include <vector>

#include <headrace/dialect/tosa.hpp>
#include <headrace/prove/gradient.hpp>

namespace headrace::prove {

namespace {

std::vector<double> without_zero(const eval::tensor& t, const eval::tensor& zp) {
    std::vector<double> numbers = t.to<double>();
    const double zero = zp.size() == 0 ? 0 : zp.real(0);
    for (double& x : numbers) x -= zero;
    return numbers;
}

/// A window that moves over the two middle axes of [N, H, W, C].
struct sliding {
    std::int64_t height, width, channels;
    std::int64_t kernel[2], stride[2], before[2], dilation[2];

    // Calls `f(input element without its channel, tap)` for the taps of a result at (n, y, x).
    template <class F>
    void for_each_tap(std::int64_t n, std::int64_t y, std::int64_t x, F f) const {
        for (std::int64_t ky = 0; ky != kernel[0]; ++ky) {
            const std::int64_t iy = y * stride[0] - before[0] + ky * dilation[0];
            if (iy < 0 || iy >= height) continue;
            for (std::int64_t kx = 0; kx != kernel[1]; ++kx) {
                const std::int64_t ix = x * stride[1] - before[1] + kx * dilation[1];
                if (ix < 0 || ix >= width) continue;
                f(((n * height + iy) * width + ix) * channels, ky * kernel[1] + kx);
            }
        }
    }
};

// Calls `f(weight, n, y, x, c)` for each result of [N, H, W, C] that counts.
template <class F>
void for_each_weight(const tensor_meta& result, const element_weights& weights, F f) {
    const int_list& s = result.shape;
    for (std::size_t i = 0; i != weights.size(); ++i) {
        if (weights[i] == 0) continue;
        const auto at = static_cast<std::int64_t>(i);
        f(weights[i], at / (s[1] * s[2] * s[3]), at / (s[2] * s[3]) % s[1], at / s[3] % s[2], at % s[3]);
    }
}
std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

template <class Args>
sliding window_of(const Args& a, const eval::tensor& in, std::int64_t kh, std::int64_t kw) {
    sliding slide{
        in.dim(1), in.dim(2), in.dim(3), {kh, kw}, {a.stride[0], a.stride[1]}, {a.pad[0], a.pad[2]}, {1, 1}};
    if constexpr (requires { a.dilation; }) {
        slide.dilation[0] = a.dilation[0];
        slide.dilation[1] = a.dilation[1];
    }
    return slide;
}

struct product_derivative {
    const node& n;
    std::span<const eval::tensor> operands;
    const element_weights& weights;
    std::vector<element_weights>& out;

    [[nodiscard]] const tensor_meta& result() const { return *n.results[0].meta; }
    element_weights& to(std::size_t operand) const {
        out[operand].assign(index(operands[operand].size()), 0.0);
        return out[operand];
    }
    // By the input alone: weights are constants of most models.
    void conv(const args<tosa::conv2d>& a) const {
        const eval::tensor& weight = operands[1];
        const std::vector<double> filters = without_zero(weight, operands[4]);
        const sliding slide = window_of(a, operands[0], weight.dim(1), weight.dim(2));
        element_weights& in = to(0);
        const std::int64_t taps = weight.dim(1) * weight.dim(2);
        for_each_weight(result(), weights, [&](double g, auto b, auto y, auto x, auto o) {
            slide.for_each_tap(b, y, x, [&](std::int64_t at, std::int64_t tap) {
                const double* const filter = &filters[index((o * taps + tap) * slide.channels)];
                for (std::int64_t c = 0; c != slide.channels; ++c) in[index(at + c)] += g * filter[c];
            });
        });
    }
    void depthwise(const args<tosa::depthwise_conv2d>& a) const {
        const eval::tensor& weight = operands[1];
        const std::vector<double> filters = without_zero(weight, operands[4]);
        const sliding slide = window_of(a, operands[0], weight.dim(0), weight.dim(1));
        element_weights& in = to(0);
        const std::int64_t features = weight.dim(2) * weight.dim(3);
        for_each_weight(result(), weights, [&](double g, auto b, auto y, auto x, auto f) {
            slide.for_each_tap(b, y, x, [&](std::int64_t at, std::int64_t tap) {
                in[index(at + f / weight.dim(3))] += g * filters[index(tap * features + f)];
            });
        });
    }
    template <class Args>
    void pool(const Args& a) const {
        const sliding slide = window_of(a, operands[0], a.kernel[0], a.kernel[1]);
        element_weights& in = to(0);
        for_each_weight(result(), weights, [&](double g, auto b, auto y, auto x, auto c) {
            slide.for_each_tap(b, y, x, [&](std::int64_t at, std::int64_t) { in[index(at + c)] += g; });
        });
    }
    // Result (y, x) is the sum over inputs (iy, ix) that lie kernel positions before it.
    void transposed(const args<tosa::transpose_conv2d>& a) const {
        const eval::tensor& weight = operands[1];
        const std::vector<double> filters = without_zero(weight, operands[4]);
        const eval::extents& s = operands[0].shape();
        element_weights& in = to(0);
        for_each_weight(result(), weights, [&](double g, auto b, auto y, auto x, auto o) {
            for (std::int64_t ky = 0; ky != weight.dim(1); ++ky) {
                for (std::int64_t kx = 0; kx != weight.dim(2); ++kx) {
                    const std::int64_t ty = y - a.out_pad[0] - ky;
                    const std::int64_t tx = x - a.out_pad[2] - kx;
                    if (ty < 0 || tx < 0 || ty % a.stride[0] != 0 || tx % a.stride[1] != 0) continue;
                    const std::int64_t iy = ty / a.stride[0];
                    const std::int64_t ix = tx / a.stride[1];
                    if (iy >= s[1] || ix >= s[2]) continue;
                    const std::int64_t filter = ((o * weight.dim(1) + ky) * weight.dim(2) + kx) * s[3];
                    for (std::int64_t c = 0; c != s[3]; ++c)
                        in[index(((b * s[1] + iy) * s[2] + ix) * s[3] + c)] += g * filters[index(filter + c)];
                }
            }
        });
    }
    void matmul() const {
        const std::vector<double> left = without_zero(operands[0], operands[2]);
        const std::vector<double> right = without_zero(operands[1], operands[3]);
        const std::int64_t rows = operands[0].dim(1);
        const std::int64_t depth = operands[0].dim(2);
        const std::int64_t columns = operands[1].dim(2);
        element_weights& to_left = to(0);
        element_weights& to_right = to(1);
        for (std::size_t i = 0; i != weights.size(); ++i) {
            if (weights[i] == 0) continue;
            const auto at = static_cast<std::int64_t>(i);
            const std::int64_t b = at / (rows * columns);
            for (std::int64_t c = 0; c != depth; ++c) {
                const std::size_t l = index((b * rows + at / columns % rows) * depth + c);
                const std::size_t r = index((b * depth + c) * columns + at % columns);
                // Both factors should grow from 0.
                const bool dead = left[l] == 0 && right[r] == 0;
                to_left[l] += weights[i] * (dead ? 1 : right[r]);
                to_right[r] += weights[i] * (dead ? 1 : left[l]);
            }
        }
    }
};

}  // namespace

bool detail::pull_back_product(const node& n, std::span<const eval::tensor> operands,
    const element_weights& weights, std::vector<element_weights>& out) {
    const product_derivative d{n, operands, weights, out};
    if (const auto* conv = args_if<tosa::conv2d>(n)) {
        d.conv(*conv);
    } else if (const auto* depthwise = args_if<tosa::depthwise_conv2d>(n)) {
        d.depthwise(*depthwise);
    } else if (const auto* transposed = args_if<tosa::transpose_conv2d>(n)) {
        d.transposed(*transposed);
    } else if (is<tosa::matmul>(n)) {
        d.matmul();
    } else if (const auto* mean = args_if<tosa::avg_pool2d>(n)) {
        d.pool(*mean);
    } else if (const auto* most = args_if<tosa::max_pool2d>(n)) {
        d.pool(*most);
    } else {
        return false;
    }
    return true;
}

}  // namespace headrace::prove
