// SPDX-License-Identifier: MIT
// Defines the kernels of ATen's normalizations.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include <headrace/dialect/aten.hpp>
#include <headrace/eval/kernels.hpp>
#include <headrace/eval/map.hpp>
#include <headrace/infer/shape_builder.hpp>

namespace headrace::eval {

namespace {

/// Mean and 1 / sqrt(variance + eps) of each set of elements that are normalized together.
struct statistics {
    std::vector<double> mean, scale;
};

/// Normalizes elements; `set_of(i)` is the set of element i. There are `count` sets of equal size. Statistics
/// of empty sets are NaN.
template <class F>
statistics normalize(std::vector<double>& x, std::size_t count, double eps, F set_of) {
    const double none = x.empty() ? std::numeric_limits<double>::quiet_NaN() : 0.0;
    statistics s{std::vector<double>(count, none), std::vector<double>(count, none)};
    const double size = count == 0 ? 1 : static_cast<double>(x.size()) / static_cast<double>(count);
    for (std::size_t i = 0; i != x.size(); ++i) s.mean[set_of(i)] += x[i] / size;
    for (std::size_t i = 0; i != x.size(); ++i) {
        x[i] -= s.mean[set_of(i)];
        s.scale[set_of(i)] += x[i] * x[i] / size;
    }
    for (double& v : s.scale) v = 1 / std::sqrt(v + eps);
    for (std::size_t i = 0; i != x.size(); ++i) x[i] *= s.scale[set_of(i)];
    return s;
}

/// Computes x * weight + bias, both optional; `position(i)` is the index of those for element i.
template <class F>
void scale_and_shift(std::vector<double>& x, const tensor* weight, const tensor* bias, F position) {
    if (weight != nullptr) {
        const std::vector<double> w = weight->to<double>();
        for (std::size_t i = 0; i != x.size(); ++i) x[i] *= w[position(i)];
    }
    if (bias != nullptr) {
        const std::vector<double> b = bias->to<double>();
        for (std::size_t i = 0; i != x.size(); ++i) x[i] += b[position(i)];
    }
}

inline void write_statistics(evaluation& e, const statistics& s) {
    if (e.output_count() != 3) return;
    if (e.is_known(1)) e.output(1).assign(s.mean);
    if (e.is_known(2)) e.output(2).assign(s.scale);
}

template <one_of<ops<aten::layer_norm, aten::native_layer_norm>> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    std::vector<double> x = e.input(a.input).template to<double>();
    const extents& shape = e.input(a.input).shape();
    const std::size_t row = idx(elements_in(a.normalized_shape));
    const std::size_t rows =
        idx(elements_in(std::span(shape).first(shape.size() - a.normalized_shape.size())));
    const statistics s = normalize(x, rows, a.eps, [=](std::size_t i) { return i / row; });
    scale_and_shift(x, e.input(a.weight), e.input(a.bias), [=](std::size_t i) { return i % row; });
    e.output().assign(x);
    write_statistics(e, s);
}
/// A norm of 0 gives NaN, as dividing by it does.
void evaluate(aten::_weight_norm, const args<aten::_weight_norm>& a, evaluation& e) {
    const tensor& v = e.input(a.v);
    const axis_view rows = a.dim == -1 ? axis_view(extents{1}, 0) : axis_view(v.shape(), a.dim);
    std::vector<double> x = v.to<double>();
    std::vector<double> squares(idx(rows.size), 0.0);
    const auto row_of = [&](std::size_t i) {
        return i / idx(a.dim == -1 ? v.size() : rows.inner) % squares.size();
    };
    for (std::size_t i = 0; i != x.size(); ++i) squares[row_of(i)] += x[i] * x[i];
    const std::vector<double> lengths = e.input(a.g).to<double>();
    for (std::size_t i = 0; i != x.size(); ++i)
        x[i] *= lengths[lengths.size() == 1 ? 0 : row_of(i)] / std::sqrt(squares[row_of(i)]);
    e.output().assign(x);
}
/// The default eps is that of the dtype.
void evaluate(aten::rms_norm, const args<aten::rms_norm>& a, evaluation& e) {
    const tensor& in = e.input(a.input);
    const double epsilon = in.type() == dtype::float64
        ? std::numeric_limits<double>::epsilon()
        : static_cast<double>(std::numeric_limits<float>::epsilon());
    std::vector<double> x = in.to<double>();
    const std::size_t row = idx(elements_in(a.normalized_shape));
    for (std::size_t first = 0; first < x.size(); first += row) {
        double sum = 0;
        for (std::size_t i = first; i != first + row; ++i) sum += x[i] * x[i];
        const double scale = 1 / std::sqrt(sum / static_cast<double>(row) + a.eps.value_or(epsilon));
        for (std::size_t i = first; i != first + row; ++i) x[i] *= scale;
    }
    scale_and_shift(x, e.input(a.weight), nullptr, [=](std::size_t i) { return i % row; });
    e.output().assign(x);
}

void group_norm_into(
    evaluation& e, value input, const tensor* weight, const tensor* bias, std::int64_t groups, double eps) {
    const tensor& in = e.input(input);
    const axis_view view(in.shape(), 1);
    const std::size_t channels = idx(view.size);
    const std::size_t inner = idx(view.inner);
    const std::size_t sets = idx(view.outer * groups);
    std::vector<double> x = in.to<double>();
    const std::size_t in_set = sets == 0 ? 1 : x.size() / sets;
    const statistics s = normalize(x, sets, eps, [=](std::size_t i) { return i / in_set; });
    scale_and_shift(x, weight, bias, [=](std::size_t i) { return i / inner % channels; });
    e.output().assign(x);
    write_statistics(e, s);
}
void evaluate(aten::group_norm, const args<aten::group_norm>& a, evaluation& e) {
    group_norm_into(e, a.input, e.input(a.weight), e.input(a.bias), a.num_groups, a.eps);
}
void evaluate(aten::native_group_norm, const args<aten::native_group_norm>& a, evaluation& e) {
    group_norm_into(e, a.input, e.input(a.weight), e.input(a.bias), a.group, a.eps);
}

/// Batch norm with the given mean and variance, or with those of the batch if they are missing.
void batch_norm_into(evaluation& e, const tensor& in, const tensor* weight, const tensor* bias,
    const tensor* mean, const tensor* variance, double eps) {
    const axis_view view(in.shape(), 1);
    const std::size_t channels = idx(view.size);
    const std::size_t inner = idx(view.inner);
    const auto channel = [=](std::size_t i) { return i / inner % channels; };
    std::vector<double> x = in.to<double>();
    if (mean == nullptr || variance == nullptr) {
        write_statistics(e, normalize(x, channels, eps, channel));
    } else {
        const std::vector<double> means = mean->to<double>();
        std::vector<double> scales = variance->to<double>();
        for (double& v : scales) v = 1 / std::sqrt(v + eps);
        for (std::size_t i = 0; i != x.size(); ++i) x[i] = (x[i] - means[channel(i)]) * scales[channel(i)];
    }
    scale_and_shift(x, weight, bias, channel);
    e.output().assign(x);
}
template <one_of<ops<aten::batch_norm, aten::native_batch_norm, aten::_native_batch_norm_legit>> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    const std::optional<value> mean = a.running_mean;
    const std::optional<value> variance = a.running_var;
    batch_norm_into(e, e.input(a.input), e.input(a.weight), e.input(a.bias),
        a.training ? nullptr : e.input(mean), a.training ? nullptr : e.input(variance), a.eps);
}
void evaluate(aten::_native_batch_norm_legit_no_stats, const args<aten::_native_batch_norm_legit_no_stats>& a,
    evaluation& e) {
    batch_norm_into(e, e.input(a.input), e.input(a.weight), e.input(a.bias), nullptr, nullptr, a.eps);
}
/// The returned statistics are empty.
void evaluate(aten::_native_batch_norm_legit_no_training,
    const args<aten::_native_batch_norm_legit_no_training>& a, evaluation& e) {
    batch_norm_into(e, e.input(a.input), e.input(a.weight), e.input(a.bias), &e.input(a.running_mean),
        &e.input(a.running_var), a.eps);
}
void evaluate(aten::instance_norm, const args<aten::instance_norm>& a, evaluation& e) {
    if (a.use_input_stats) {
        group_norm_into(e, a.input, e.input(a.weight), e.input(a.bias), e.input(a.input).dim(1), a.eps);
    } else {
        batch_norm_into(e, e.input(a.input), e.input(a.weight), e.input(a.bias), e.input(a.running_mean),
            e.input(a.running_var), a.eps);
    }
}

void evaluate(aten::cosine_similarity, const args<aten::cosine_similarity>& a, evaluation& e) {
    const result<shape_builder> common = broadcast(e.input(a.x1).shape(), e.input(a.x2).shape());
    if (!common) return e.fail(common.error());
    const extents shape(common.value().begin(), common.value().end());
    const std::vector<double> x = broadcast_to(e.input(a.x1), shape).to<double>();
    const std::vector<double> y = broadcast_to(e.input(a.x2), shape).to<double>();
    const axis_view view(shape, a.dim);
    std::vector<double> out;
    view.for_each_line([&](std::int64_t o, std::int64_t k) {
        double xx = 0;
        double yy = 0;
        double xy = 0;
        for (std::int64_t i = 0; i != view.size; ++i) {
            const std::size_t at = view.at(o, i, k);
            xx += x[at] * x[at];
            yy += y[at] * y[at];
            xy += x[at] * y[at];
        }
        out.push_back(xy / (std::max(std::sqrt(xx), a.eps) * std::max(std::sqrt(yy), a.eps)));
    });
    e.output().assign(out);
}

constexpr auto kernel = [](auto op, const auto& a, evaluation& e) -> decltype(evaluate(op, a, e)) {
    evaluate(op, a, e);
};

}  // namespace

const kernel_list aten_norm_kernels = kernels_of<aten::dialect>(kernel);

}  // namespace headrace::eval
