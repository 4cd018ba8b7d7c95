// SPDX-License-Identifier: MIT
// Defines the kernels of the quantized_decomposed dialect.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <headrace/dialect/quantized_decomposed.hpp>
#include <headrace/eval/element.hpp>
#include <headrace/eval/kernels.hpp>
#include <headrace/eval/reduce.hpp>

namespace headrace::eval {

namespace {

constexpr double highest_double = std::numeric_limits<double>::infinity();

/// One scale and zero point for each group of elements; `group(i)` is the group of element i.
struct quantization_parameters {
    std::vector<double> scales;
    std::vector<std::int64_t> zero_points;  ///< empty: zero
    [[nodiscard]] std::int64_t zero_point(std::size_t g) const {
        return zero_points.empty() ? 0 : zero_points[g];
    }
};
struct quantized_range {
    std::int64_t lowest, highest;
};
[[nodiscard]] inline double width_of(quantized_range r) {
    return static_cast<double>(r.highest) - static_cast<double>(r.lowest);
}

/// PyTorch multiplies by the inverse of the scale, as a float, which decides how ties are rounded.
[[nodiscard]] inline float inverse_scale(double scale) { return static_cast<float>(1.0 / scale); }
[[nodiscard]] inline std::int64_t quantize(
    float x, float inverse, std::int64_t zero_point, quantized_range range) {
    const float shifted = std::nearbyint(x * inverse) + static_cast<float>(zero_point);
    if (std::isnan(shifted)) return 0;
    return std::clamp(element_cast<std::int64_t>(shifted), range.lowest, range.highest);
}

template <class F>
void quantize_into(
    evaluation& e, const tensor& in, const quantization_parameters& q, quantized_range range, F group) {
    const std::vector<double> numbers = in.to<double>();
    std::vector<float> inverses;
    for (const double s : q.scales) inverses.push_back(inverse_scale(s));
    std::vector<std::int64_t> out(numbers.size());
    for (std::size_t i = 0; i != out.size(); ++i) {
        const std::size_t g = group(i);
        out[i] = quantize(static_cast<float>(numbers[i]), inverses[g], q.zero_point(g), range);
    }
    e.output().assign(out);
}
template <class F>
void dequantize_into(evaluation& e, const tensor& in, const quantization_parameters& q, F group) {
    std::vector<std::int64_t> numbers = in.to<std::int64_t>();
    std::vector<double> out(numbers.size());
    for (std::size_t i = 0; i != out.size(); ++i) {
        const std::size_t g = group(i);
        const auto scale = static_cast<float>(q.scales[g]);
        out[i] = static_cast<double>(static_cast<float>(minus()(numbers[i], q.zero_point(g))) * scale);
    }
    e.output().assign(out);
}

// Scales and zero points are numbers or tensors.
[[nodiscard]] inline std::vector<double> scale_numbers(const evaluation&, double s) { return {s}; }
[[nodiscard]] inline std::vector<double> scale_numbers(const evaluation& e, value v) {
    return e.input(v).to<double>();
}
[[nodiscard]] inline std::vector<std::int64_t> zero_numbers(const evaluation&, std::int64_t z) { return {z}; }
[[nodiscard]] inline std::vector<std::int64_t> zero_numbers(const evaluation& e, value v) {
    return e.input(v).to<std::int64_t>();
}
[[nodiscard]] inline std::vector<std::int64_t> zero_numbers(
    const evaluation& e, const std::optional<value>& v) {
    return v ? zero_numbers(e, *v) : std::vector<std::int64_t>();
}
template <class Args>
[[nodiscard]] quantization_parameters parameters_of(const evaluation& e, const Args& a) {
    if constexpr (requires { a.scale; }) {
        return {scale_numbers(e, a.scale), zero_numbers(e, a.zero_point)};
    } else {
        return {scale_numbers(e, a.scales), zero_numbers(e, a.zero_points)};
    }
}
template <class Args>
[[nodiscard]] quantized_range range_of(const evaluation& e, const Args& a) {
    if constexpr (requires { a.quant_min.producer; }) {
        return {e.input(a.quant_min).integer(0), e.input(a.quant_max).integer(0)};
    } else {
        return {a.quant_min, a.quant_max};
    }
}
/// Groups that share a scale: an axis, runs of elements in a row, or rows.
template <class Args>
[[nodiscard]] auto grouping_of(const evaluation& e, const Args& a, bool per_token) {
    const extents& shape = e.input(a.input).shape();
    if constexpr (requires { a.axis; }) {
        const axis_view view(shape, a.axis);
        return [inner = idx(view.inner), size = idx(view.size)](std::size_t i) { return i / inner % size; };
    } else if constexpr (requires { a.group_size; }) {
        const std::int64_t row = shape.empty() ? 1 : shape.back();  // a longer group covers a row
        const std::int64_t size = std::max<std::int64_t>(1, std::min(a.group_size, row));
        return [size](std::size_t i) { return i / idx(size); };
    } else {
        const std::size_t row = shape.empty() ? 1 : std::max<std::size_t>(1, idx(shape.back()));
        return [row, per_token](std::size_t i) { return per_token ? i / row : 0; };
    }
}
/// One scale for all, or one for each group.
template <class Args>
[[nodiscard]] bool has_all_scales(
    evaluation& e, const Args& a, const quantization_parameters& q, bool per_token) {
    const std::int64_t size = e.input(a.input).size();
    const auto group = grouping_of(e, a, per_token);
    std::size_t groups = 0;
    for (std::int64_t i = 0; i != size; ++i) groups = std::max(groups, group(idx(i)) + 1);
    const bool enough =
        q.scales.size() >= groups && (q.zero_points.empty() || q.zero_points.size() >= groups);
    if (!enough) e.fail("fewer scales or zero points than there are groups");
    return enough;
}

namespace quantized = quantized_decomposed;

template <one_of<ops<quantized::quantize_per_tensor, quantized::quantize_per_tensor_tensor,
    quantized::quantize_per_tensor_tensor2, quantized::quantize_per_channel,
    quantized::quantize_per_channel_group, quantized::quantize_per_token>>
        Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    constexpr bool per_token = std::is_same_v<Op, quantized::quantize_per_token>;
    const quantization_parameters q = parameters_of(e, a);
    if (!has_all_scales(e, a, q, per_token)) return;
    const quantized_range range = range_of(e, a);
    if (range.lowest > range.highest) return e.fail("quant_min is greater than quant_max");
    quantize_into(e, e.input(a.input), q, range, grouping_of(e, a, per_token));
}
template <one_of<ops<quantized::dequantize_per_tensor, quantized::dequantize_per_tensor_tensor,
    quantized::dequantize_per_tensor_tensor2, quantized::dequantize_per_channel,
    quantized::dequantize_per_channel_group, quantized::dequantize_per_token>>
        Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    constexpr bool per_token = std::is_same_v<Op, quantized::dequantize_per_token>;
    const quantization_parameters q = parameters_of(e, a);
    if (!has_all_scales(e, a, q, per_token)) return;
    dequantize_into(e, e.input(a.input), q, grouping_of(e, a, per_token));
}
void evaluate(
    quantized::fake_quant_per_channel, const args<quantized::fake_quant_per_channel>& a, evaluation& e) {
    const quantization_parameters q = parameters_of(e, a);
    if (!has_all_scales(e, a, q, false)) return;
    const auto group = grouping_of(e, a, false);
    std::vector<double> numbers = e.input(a.input).to<double>();
    for (std::size_t i = 0; i != numbers.size(); ++i) {
        const std::size_t g = group(i);
        const std::int64_t code = quantize(static_cast<float>(numbers[i]), inverse_scale(q.scales[g]),
            q.zero_point(g), {a.quant_min, a.quant_max});
        numbers[i] = static_cast<double>(minus()(code, q.zero_point(g))) * q.scales[g];
    }
    e.output().assign(numbers);
}

struct chosen_parameters {
    double scale;
    std::int64_t zero_point;
};
/// PyTorch's rule for asymmetric parameters: the range is widened to include 0, and 0 maps to an integer.
[[nodiscard]] inline chosen_parameters choose_parameters(
    double low, double high, quantized_range range, double eps) {
    low = std::min(low, 0.0);
    high = std::max(high, 0.0);
    const double scale = std::max((high - low) / width_of(range), eps);
    const double zero = static_cast<double>(range.lowest) - std::nearbyint(low / scale);
    return {scale, std::clamp(element_cast<std::int64_t>(zero), range.lowest, range.highest)};
}
/// PyTorch's rule for symmetric parameters.
[[nodiscard]] inline chosen_parameters choose_symmetric_parameters(
    double low, double high, quantized_range range, double eps) {
    const double half = width_of(range) / 2;
    return {std::max(std::max(-low, high) / half, eps), 0};
}
template <one_of<ops<quantized::choose_qparams_tensor, quantized::choose_qparams_symmetric_tensor>> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    const std::vector<double> x = e.input(a.input).template to<double>();
    const reduction all(e.input(a.input).shape(), axes_list(std::nullopt));
    const double low = all.fold(x, 0.0, smaller())[0];
    const double high = all.fold(x, 0.0, larger())[0];
    constexpr bool symmetric = std::is_same_v<Op, quantized::choose_qparams_symmetric_tensor>;
    const auto rule = symmetric ? choose_symmetric_parameters : choose_parameters;
    const chosen_parameters chosen = rule(low, high, {a.quant_min, a.quant_max}, a.eps);
    e.output(0).assign(std::vector<double>{chosen.scale});
    e.output(1).assign(std::vector<std::int64_t>{chosen.zero_point});
}
/// Parameters for rows of the last axis, in int8.
template <one_of<ops<quantized::choose_qparams_per_token, quantized::choose_qparams_per_token_asymmetric>> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    const reduction rows(e.input(a.input).shape(), axes_list(-1));
    const std::vector<double> x = e.input(a.input).template to<double>();
    const std::vector<double> low = rows.fold(x, highest_double, smaller());
    const std::vector<double> high = rows.fold(x, -highest_double, larger());
    std::vector<double> scales;
    std::vector<std::int64_t> zero_points;
    for (std::size_t i = 0; i != low.size(); ++i) {
        constexpr bool symmetric = std::is_same_v<Op, quantized::choose_qparams_per_token>;
        constexpr double eps =
            symmetric ? 1e-5 / 127 : static_cast<double>(std::numeric_limits<float>::epsilon());
        const quantized_range range{symmetric ? -127 : -128, 127};
        const auto rule = symmetric ? choose_symmetric_parameters : choose_parameters;
        const chosen_parameters chosen = rule(low[i], high[i], range, eps);
        scales.push_back(chosen.scale);
        zero_points.push_back(chosen.zero_point);
    }
    e.output(0).assign(scales);
    e.output(1).assign(zero_points);
}

constexpr auto kernel = [](auto op, const auto& a, evaluation& e) -> decltype(evaluate(op, a, e)) {
    evaluate(op, a, e);
};

}  // namespace

const kernel_list quantized_decomposed_kernels = kernels_of<quantized_decomposed::dialect>(kernel);

}  // namespace headrace::eval
