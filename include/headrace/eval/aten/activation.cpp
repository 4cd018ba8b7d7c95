// SPDX-License-Identifier: MIT
// Defines the kernels of ATen's activations.
#include <algorithm>
#include <cmath>
#include <numbers>

#include <headrace/dialect/aten.hpp>
#include <headrace/eval/exponential.hpp>
#include <headrace/eval/gelu.hpp>
#include <headrace/eval/kernels.hpp>
#include <headrace/eval/map.hpp>

namespace headrace::eval {

namespace {

void evaluate(aten::relu, const args<aten::relu>& a, evaluation& e) {
    map_selection(e, a.self, []<class T>(T x) { return x <= T{} ? T{} : x; });
}
void evaluate(aten::relu6, const args<aten::relu6>& a, evaluation& e) {
    map_selection(e, a.self, []<class T>(T x) { return limited(x, T{0}, T{6}); });
}
void evaluate(aten::hardtanh, const args<aten::hardtanh>& a, evaluation& e) {
    const constant_number low(a.min_val, e.output_type());
    const constant_number high(a.max_val, e.output_type());
    map_selection(e, a.self, [=]<class T>(T x) { return limited(x, low.as<T>(), high.as<T>()); });
}
void evaluate(aten::leaky_relu, const args<aten::leaky_relu>& a, evaluation& e) {
    const auto slope = number_as<double>(a.negative_slope, e.output_type());
    map_real(e, a.self, [=](double x) { return x > 0 ? x : x * slope; });
}
void evaluate(aten::celu, const args<aten::celu>& a, evaluation& e) {
    const double alpha = a.alpha.to_double();
    map_real(e, a.self, [=](double x) { return x > 0 ? x : alpha * std::expm1(x / alpha); });
}
void evaluate(aten::elu, const args<aten::elu>& a, evaluation& e) {
    const double negative = a.alpha.to_double() * a.scale.to_double();
    const double positive = a.scale.to_double();
    const double inner = a.input_scale.to_double();
    map_real(e, a.self, [=](double x) { return x > 0 ? x * positive : std::expm1(x * inner) * negative; });
}
void evaluate(aten::selu, const args<aten::selu>& a, evaluation& e) {
    constexpr double alpha = 1.6732632423543772848170429916717;
    constexpr double scale = 1.0507009873554804934193349852946;
    map_real(e, a.self, [](double x) { return scale * (x > 0 ? x : alpha * std::expm1(x)); });
}
void evaluate(aten::gelu, const args<aten::gelu>& a, evaluation& e) {
    if (a.approximate == "tanh") {
        map_real(e, a.self, [](double x) {
            const double inner = std::sqrt(2 * std::numbers::inv_pi) * (x + 0.044715 * x * x * x);
            return 0.5 * x * (1 + std::tanh(inner));
        });
        return;
    }
    const bool alone = e.output().size() == 1;  // PyTorch computes a single element differently
    map_real(e, a.self, [=]<class T>(T x) {
        if constexpr (std::is_same_v<T, float>) {
            if (!alone) return x * 0.5F * (1 + erf_of_gelu(x));
        }
        const auto part = static_cast<T>(std::erf(static_cast<double>(x * (std::numbers::sqrt2_v<T> / 2))));
        return x * T(0.5) * (1 + part);
    });
}
void evaluate(aten::hardsigmoid, const args<aten::hardsigmoid>& a, evaluation& e) {
    map_real(e, a.self, []<class T>(T x) { return limited(x + 3, T{0}, T{6}) / 6; });
}
void evaluate(aten::hardswish, const args<aten::hardswish>& a, evaluation& e) {
    map_real(e, a.self, []<class T>(T x) { return x * limited(x + 3, T{0}, T{6}) / 6; });
}
void evaluate(aten::silu, const args<aten::silu>& a, evaluation& e) {
    map_with_exponential(e, a.self, [](auto x, auto exp) { return x / (1 + exp(-x)); });
}
void evaluate(aten::mish, const args<aten::mish>& a, evaluation& e) {
    map_real(e, a.self, [](double x) { return x * std::tanh(x > 40 ? x : std::log1p(std::exp(x))); });
}
void evaluate(aten::threshold, const args<aten::threshold>& a, evaluation& e) {
    const constant_number threshold(a.threshold, e.output_type());
    const constant_number replacement(a.value, e.output_type());
    map_selection(e, a.self, [=]<class T>(T x) { return x <= threshold.as<T>() ? replacement.as<T>() : x; });
}

[[nodiscard]] inline double log_sigmoid_of(double x) {
    return std::min(x, 0.0) - std::log1p(std::exp(-std::fabs(x)));
}
template <one_of<ops<aten::log_sigmoid, aten::log_sigmoid_forward>> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    map_real(e, a.self, [](double x) { return std::isnan(x) ? x : log_sigmoid_of(x); });
}
void evaluate(aten::logit, const args<aten::logit>& a, evaluation& e) {
    // Rounding matters near the ends: 1 - eps is rounded as in PyTorch.
    const dtype type = e.output_type();
    const double low = a.eps ? number_as<double>(*a.eps, type) : 0;
    const double high = number_as<double>(1 - low, type);
    map_real(e, a.self, [&](double x) {
        const double z = !a.eps || x != x ? x : x < low ? low : x > high ? high : x;
        return std::log(z / (1 - z));
    });
}
void evaluate(aten::softplus, const args<aten::softplus>& a, evaluation& e) {
    const double beta = a.beta.to_double();
    const double limit = a.threshold.to_double();
    map_real(
        e, a.self, [=](double x) { return x * beta > limit ? x : std::log1p(std::exp(x * beta)) / beta; });
}
void evaluate(aten::hardshrink, const args<aten::hardshrink>& a, evaluation& e) {
    const auto lambda = number_as<double>(a.lambd, e.output_type());
    map_real(e, a.self, [=](double x) { return x >= -lambda && x <= lambda ? 0 : x; });
}
void evaluate(aten::softshrink, const args<aten::softshrink>& a, evaluation& e) {
    const auto lambda = number_as<double>(a.lambd, e.output_type());
    map_real(e, a.self, [=](double x) {
        return x > lambda ? x - lambda : x < -lambda ? x + lambda : std::isnan(x) ? x : 0;
    });
}
void evaluate(aten::glu, const args<aten::glu>& a, evaluation& e) {
    const std::vector<double> in = e.input(a.self).to<double>();
    const axis_view from(e.input(a.self).shape(), a.dim);
    const axis_view to(e.output_shape(), a.dim);
    std::vector<double> out(idx(e.output().size()));
    to.for_each_line([&](std::int64_t o, std::int64_t k) {
        for (std::int64_t i = 0; i != to.size; ++i) {
            out[to.at(o, i, k)] = in[from.at(o, i, k)] * sigmoid_of(in[from.at(o, i + to.size, k)]);
        }
    });
    e.output().assign(out);
}

/// One weight for all channels, or one per channel (axis 1).
void evaluate(aten::prelu, const args<aten::prelu>& a, evaluation& e) {
    const std::vector<double> in = e.input(a.self).to<double>();
    const std::vector<double> weight = e.input(a.weight).to<double>();
    const axis_view channels(e.output_shape(), e.output_shape().size() > 1 ? 1 : 0);
    std::vector<double> out(in.size());
    channels.for_each_line([&](std::int64_t o, std::int64_t k) {
        for (std::int64_t c = 0; c != channels.size; ++c) {
            const double x = in[channels.at(o, c, k)];
            out[channels.at(o, c, k)] = x > 0 ? x : x * weight[weight.size() == 1 ? 0 : idx(c)];
        }
    });
    e.output().assign(out);
}
void evaluate(aten::_prelu_kernel, const args<aten::_prelu_kernel>& a, evaluation& e) {
    map_binary_real(e, a.self, a.weight, [](double x, double w) { return x > 0 ? x : x * w; });
}

constexpr auto kernel = [](auto op, const auto& a, evaluation& e) -> decltype(evaluate(op, a, e)) {
    evaluate(op, a, e);
};

}  // namespace

const kernel_list aten_activation_kernels = kernels_of<aten::dialect>(kernel);

}  // namespace headrace::eval
