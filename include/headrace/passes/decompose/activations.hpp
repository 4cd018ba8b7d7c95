// SPDX-License-Identifier: MIT
// Defines the decompositions of activation functions, and of softmax.
#ifndef HEADRACE_PASSES_DECOMPOSE_ACTIVATIONS_HPP
#define HEADRACE_PASSES_DECOMPOSE_ACTIVATIONS_HPP

#include <cmath>
#include <numbers>

#include <headrace/passes/decompose/expressions.hpp>

namespace headrace {

/// gelu(x) = x/2 · (1 + erf(x/√2)), or with approximate="tanh" x/2 · (1 + tanh(√(2/π) · (x + 0.044715·x³)))
/// (PyTorch, torch.nn.GELU).
struct decompose_gelu : pass_in<function_decomposition> {
    static constexpr std::string_view summary = "gelu(x) as x/2 · (1 + erf(x/√2)), or its tanh approximation";

    static auto rewrites() {
        return real_rules(on<aten::gelu> = [](auto x, const auto& a) {
            const auto exact = [&] { return x * 0.5 * (erf(x * (1 / std::numbers::sqrt2)) + 1); };
            const auto approximation = [&] {
                const auto inner = x + x * x * x * 0.044715;
                return x * 0.5 * (tanh(inner * std::sqrt(2 * std::numbers::inv_pi)) + 1);
            };
            return choose(a.approximate == "tanh", approximation, exact);
        });
    }
};
HEADRACE_COMPILED_PASS(decompose_gelu);

struct decompose_sigmoids : pass_in<function_decomposition> {
    static constexpr std::string_view summary = "silu, softplus, glu and their like by sigmoid, exp, log";

    static auto rewrites() {
        return rules(
            real_rules(
                on<aten::silu> = [](auto x) { return x * sigmoid(x); },
                // x · tanh(softplus(x)) = x · n / (n + 2), n = exp(x) · (exp(x) + 2); the factor is 1 from 20
                // on.
                on<aten::mish> =
                    [](auto x) {
                        const auto power = exp(min(x, 20));
                        const auto n = power * (power + 2);
                        return x * (n / (n + 2));
                    },
                // log(1 + exp(βx)) / β, or x if βx is above the threshold.
                on<aten::softplus> =
                    [](auto x, const auto& a) {
                        const double beta = a.beta.to_double();
                        const auto scaled = choose(beta == 1, x, [&] { return x * beta; });
                        const auto y = max(scaled, 0) + log(exp(-abs(scaled)) + 1);
                        const auto unscaled = choose(beta == 1, y, [&] { return y / beta; });
                        return where(scaled > a.threshold.to_double(), x, unscaled);
                    },
                on<aten::log_sigmoid> = [](auto x) { return log_of_sigmoid(x); },
                // The second result is used for the gradient only.
                on<aten::log_sigmoid_forward> =
                    [](auto x) { return std::tuple(log_of_sigmoid(x), exp(-abs(x))); }),
            on<aten::logit> =
                [](auto self, const auto& a) {
                    const auto p = choose(is_floating(self.dtype()), self, [&] { return real(self); });
                    const double eps = a.eps.value_or(0);
                    const auto limit = [&] { return clamp(p, eps, 1 - eps); };
                    // If the limits cross, the lower one takes precedence.
                    const auto crossed = [&] {
                        return where(p < eps, p.constant(eps), where(p > 1 - eps, p.constant(1 - eps), p));
                    };
                    const auto x = real(choose(!a.eps, p, eps > 0.5, crossed, limit));
                    return in_result_type(log(x / (1 - x)));
                },
            // Splits an axis into halves; the first is multiplied by the sigmoid of the second.
            on<aten::glu> =
                [](auto x, const auto& a) {
                    const std::int64_t size = x.size(a.dim);
                    const auto half = [&](std::int64_t start, std::int64_t end) {
                        return real(call<aten::slice_tensor>(x, a.dim, start, end));
                    };
                    return in_result_type(half(0, size / 2) * sigmoid(half(size / 2, size)));
                });
    }

private:
    static auto log_of_sigmoid(const auto& x) { return min(x, 0) - log(exp(-abs(x)) + 1); }
};
HEADRACE_COMPILED_PASS(decompose_sigmoids);

struct decompose_rectifiers : pass_in<function_decomposition> {
    static constexpr std::string_view summary =
        "relu, hardtanh, hardswish, prelu and other piecewise linear functions";

    static auto rewrites() {
        return rules(
            on<aten::relu> = [](auto x) { return clamp(x, 0, {}); },
            on<aten::relu6> = [](auto x) { return clamp(x, 0, 6); },
            on<aten::hardtanh> =
                [](auto x, const auto& a) { return in_result_type(clamp(x, a.min_val, a.max_val)); },
            real_rules(
                on<aten::hardsigmoid> = [](auto x) { return clamp(x + 3, 0, 6) / 6; },
                on<aten::hardswish> = [](auto x) { return x * (clamp(x + 3, 0, 6) / 6); }),
            on<aten::leaky_relu> =
                [](auto x, const auto& a) { return where(x > 0, x, x * a.negative_slope.to_double()); },
            on<aten::_prelu_kernel> = [](auto x, auto slope) { return rectified(x, slope); },
            on<aten::prelu> =
                [](auto x, auto slope) {
                    // A single slope, or one for each channel, which is axis 1.
                    const shape_builder channels = line_shape(x.rank(), 1, slope.meta().elements());
                    return rectified(x, call<aten::view>(slope, channels));
                },
            on<aten::threshold> =
                [](auto x, const auto& a) {
                    return where(x <= a.threshold.to_double(), a.value.to_double(), x);
                },
            on<aten::softshrink> = [](auto x,
                                       const auto& a) { return x - clamp(x, -a.lambd.to_double(), a.lambd); },
            on<aten::hardshrink> = [](auto x,
                                       const auto& a) { return where(abs(x) <= a.lambd.to_double(), 0, x); });
    }

private:
    static auto rectified(const auto& x, const auto& slope) {
        return in_result_type(where(x > 0, x, x * slope));
    }
};
HEADRACE_COMPILED_PASS(decompose_rectifiers);

/// selu and celu are elu with other constants (PyTorch, torch.nn.SELU and CELU).
struct decompose_elu : pass_in<function_decomposition> {
    static constexpr std::string_view summary =
        "elu(x) as s·x for x > 0, else s·α · (exp(input_scale · x) - 1); selu, celu";

    static auto rewrites() {
        return real_rules(
            on<aten::elu> =
                [](auto x, const auto& a) {
                    return elu(x, a.alpha.to_double(), a.scale.to_double(), a.input_scale.to_double());
                },
            on<aten::selu> =
                [](auto x) {
                    return elu(x, 1.6732632423543772848170429916717, 1.0507009873554804934193349852946, 1);
                },
            on<aten::celu> =
                [](auto x, const auto& a) {
                    return elu(x, a.alpha.to_double(), 1, 1 / a.alpha.to_double());
                });
    }

private:
    static auto elu(const auto& x, double alpha, double scale, double input_scale) {
        const auto negative = exp(scaled(x, input_scale)) - 1;
        return where(x > 0, scaled(x, scale), scaled(negative, alpha * scale));
    }
};
HEADRACE_COMPILED_PASS(decompose_elu);

/// Decomposes softmax along an axis; m is the largest x, so that no exponential overflows. If all x are
/// -infinity, _safe_softmax returns 0, and softmax NaN, as in PyTorch.
struct decompose_softmax : pass_in<decomposition> {
    static constexpr std::string_view summary =
        "softmax(x) as exp(x - m) / Σ exp(x - m), m = max(x); log_softmax, logsumexp";

    static auto rewrites() {
        return reduction_rules(
            on<aten::softmax_int, aten::_softmax> =
                [](auto x, const auto& a) { return softmax(x, largest(x, axis(a)), axis(a)); },
            on<aten::_safe_softmax> =
                [](auto x, const auto& a) {
                    const auto m = largest(x, axis(a));
                    return where(m == -HUGE_VAL, 0, softmax(x, m, axis(a)));
                },
            on<aten::log_softmax_int, aten::_log_softmax> =
                [](auto x, const auto& a) {
                    const auto shifted = x - largest(x, axis(a));
                    return shifted - log(sum(exp(shifted), axis(a)));
                },
            on<aten::logsumexp> =
                [](auto x, const auto& a) {
                    const auto m = largest(x, a.dim);
                    const auto shift = where(abs(m) == HUGE_VAL, 0, m);  // infinity - infinity would be NaN
                    return log(sum(exp(x - shift), a.dim)) + shift;
                });
    }

private:
    static int_list axis(const auto& a) { return {a.dim}; }
    static auto softmax(const auto& x, const auto& m, const int_list& axes) {
        const auto powers = exp(x - m);
        return powers / sum(powers, axes);
    }
};
HEADRACE_COMPILED_PASS(decompose_softmax);

}  // namespace headrace

#endif
