// SPDX-License-Identifier: MIT
// Defines headrace::decompose_sigmoids.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_SIGMOIDS_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_SIGMOIDS_HPP

#include <headrace/pass/arithmetic.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// Decomposes activations made of the logistic function and its logarithm (PyTorch, torch.nn).
struct decompose_sigmoids : pass {
    using phase = function_decomposition;
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
                    const auto real = [&] { return as(self, dtype::float32); };
                    const auto p = choose(is_floating(self.dtype()), self, real);
                    const double eps = a.eps.value_or(0);
                    const auto limit = [&] { return clamp(p, eps, 1 - eps); };
                    // If the limits cross, the lower one takes precedence.
                    const auto crossed = [&] {
                        return where(p < eps, p.constant(eps), where(p > 1 - eps, p.constant(1 - eps), p));
                    };
                    const auto limited = choose(!a.eps, p, eps > 0.5, crossed, limit);
                    const auto x = as(limited, dtype::float32);
                    return in_result_type(log(x / (1 - x)));
                },
            // Splits an axis into halves; the first is multiplied by the sigmoid of the second.
            on<aten::glu> =
                [](auto x, const auto& a) {
                    const std::int64_t size = x.size(a.dim);
                    const auto half = [&](std::int64_t start, std::int64_t end) {
                        return as(call<aten::slice_tensor>(x, a.dim, start, end), dtype::float32);
                    };
                    return in_result_type(half(0, size / 2) * sigmoid(half(size / 2, size)));
                });
    }

private:
    static auto log_of_sigmoid(const auto& x) { return min(x, 0) - log(exp(-abs(x)) + 1); }
};
HEADRACE_COMPILED_PASS(decompose_sigmoids);

}  // namespace headrace

#endif
