// SPDX-License-Identifier: MIT
// Defines the kernels of softmax and of attention.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include <headrace/dialect/aten.hpp>
#include <headrace/eval/exponential.hpp>
#include <headrace/eval/kernels.hpp>
#include <headrace/eval/product.hpp>

namespace headrace::eval {

namespace {

/// The result for a line that is all -inf: NaN, or zeros for a safe softmax.
enum class masked_line : bool { nan, zeros };

/// Replaces each line along the axis by its softmax. Returns the log of each line's sum of exponentials.
std::vector<double> softmax_lines(std::vector<double>& x, const axis_view& view, masked_line masked) {
    std::vector<double> sums;
    view.for_each_line([&](std::int64_t o, std::int64_t k) {
        double top = -std::numeric_limits<double>::infinity();
        for (std::int64_t i = 0; i != view.size; ++i) top = larger()(top, x[view.at(o, i, k)]);
        const bool empty = masked == masked_line::zeros && std::isinf(top) && top < 0;
        double sum = 0;
        for (std::int64_t i = 0; i != view.size; ++i) {
            double& element = x[view.at(o, i, k)];
            element = empty ? 0 : std::exp(element - top);
            sum += element;
        }
        for (std::int64_t i = 0; i != view.size && !empty; ++i) x[view.at(o, i, k)] /= sum;
        sums.push_back(std::log(sum) + top);
    });
    return sums;
}

/// Sums a line of float32 in PyTorch's order: 16 lanes, which are then halved repeatedly.
[[nodiscard]] float sum_in_lanes(std::span<const float> line) {
    constexpr std::size_t lanes = 16;
    if (line.size() < lanes) return std::accumulate(line.begin() + 1, line.end(), line.front());
    std::array<float, lanes> sums{};
    std::ranges::copy(line.first(lanes), sums.begin());
    for (std::size_t i = lanes; i != line.size(); ++i) sums[i % lanes] += line[i];
    for (std::size_t half = lanes / 2; half != 0; half /= 2) {
        for (std::size_t i = 0; i != half; ++i) sums[i] += sums[i + half];
    }
    return sums[0];
}
/// Softmax of float32 in the order and with the roundings of PyTorch's kernels on x86-64: along the last axis
/// a line is multiplied by the reciprocal of its sum; along others it is divided by it.
void softmax_float_lines(std::vector<float>& x, const axis_view& view, masked_line masked) {
    constexpr std::int64_t lanes = 16;
    std::vector<float> line(idx(view.size));
    view.for_each_line([&](std::int64_t o, std::int64_t k) {
        for (std::int64_t i = 0; i != view.size; ++i) line[idx(i)] = x[view.at(o, i, k)];
        if (line.empty()) return;
        const float top = std::accumulate(line.begin(), line.end(), line.front(),
            [](float a, float b) { return std::isnan(a) || a > b ? a : b; });
        const bool empty = masked == masked_line::zeros && std::isinf(top) && top < 0;
        const bool last_axis = view.inner == 1;
        const bool in_vector = last_axis || k < view.inner / lanes * lanes;
        for (float& v : line)
            v = empty ? 0 : in_vector ? vector_exponential(v - top) : nearest_exponential(v - top);
        const float sum =
            last_axis ? sum_in_lanes(line) : std::accumulate(line.begin() + 1, line.end(), line.front());
        const float factor = 1 / sum;
        for (std::int64_t i = 0; i != view.size; ++i) {
            const float v = line[idx(i)];
            x[view.at(o, i, k)] = empty ? 0 : last_axis ? v * factor : v / sum;
        }
    });
}
template <one_of<ops<aten::softmax_int, aten::_softmax, aten::_safe_softmax>> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    const axis_view view(e.output_shape(), a.dim);
    constexpr auto masked = std::is_same_v<Op, aten::_safe_softmax> ? masked_line::zeros : masked_line::nan;
    if (is_float32(e, a.self)) {
        std::vector<float> x = e.input(a.self).template to<float>();
        softmax_float_lines(x, view, masked);
        return e.output().assign(x);
    }
    std::vector<double> x = to_real(e.input(a.self), e.output_type());
    softmax_lines(x, view, masked);
    e.output().assign(x);
}
template <one_of<ops<aten::log_softmax_int, aten::_log_softmax>> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    std::vector<double> x = to_real(e.input(a.self), e.output_type());
    const axis_view view(e.output_shape(), a.dim);
    std::vector<double> unused = x;
    const std::vector<double> sums = softmax_lines(unused, view, masked_line::nan);
    std::size_t line = 0;
    view.for_each_line([&](std::int64_t o, std::int64_t k) {
        for (std::int64_t i = 0; i != view.size; ++i) x[view.at(o, i, k)] -= sums[line];
        ++line;
    });
    e.output().assign(x);
}

struct attention_arguments {
    value query, key, value_;
    std::optional<value> mask;
    bool is_causal;
    std::optional<double> scale;
};

/// Adds the mask to scores [..., rows, columns]; a boolean mask keeps the scores where it is true.
void add_mask(std::vector<double>& scores, const extents& shape, const tensor* mask, bool is_causal) {
    constexpr double shut = -std::numeric_limits<double>::infinity();
    const std::int64_t columns = shape.back();
    const std::int64_t rows = shape[shape.size() - 2];
    for (std::int64_t i = 0; is_causal && i != static_cast<std::int64_t>(scores.size()); ++i) {
        if (i % columns > i / columns % rows) scores[idx(i)] = shut;
    }
    if (mask == nullptr) return;
    const std::vector<double> numbers = mask->to<double>();
    const bool boolean = mask->type() == dtype::boolean;
    std::size_t i = 0;
    for_each_index<1>(shape, {broadcast_strides(mask->shape(), shape)}, [&](const auto& at) {
        const double m = numbers[idx(at[0])];
        scores[i] = boolean && m == 0 ? shut : boolean ? scores[i] : scores[i] + m;
        ++i;
    });
}

/// Repeats heads for grouped queries: with fewer key heads than query heads, each key head serves several
/// adjacent query heads.
[[nodiscard]] tensor repeat_heads(const tensor& t, const tensor& query) {
    if (t.rank() < 3 || t.rank() != query.rank()) return t;
    const std::size_t heads = t.rank() - 3;
    const std::int64_t times_each = t.dim(heads) == 0 ? 1 : query.dim(heads) / t.dim(heads);
    if (times_each <= 1 || t.dim(heads) == 1) return t;
    extents split = t.shape();
    split.insert(split.begin() + static_cast<std::ptrdiff_t>(heads) + 1, 1);
    extents wide = split;
    wide[heads + 1] = times_each;
    extents joined = t.shape();
    joined[heads] *= times_each;
    return broadcast_to(t.reshaped(split), wide).reshaped(joined);
}

/// Returns the log of each row's sum of exponentials.
std::vector<double> attend(evaluation& e, const attention_arguments& a) {
    const tensor& narrow = e.input(a.query);
    const tensor key = repeat_heads(e.input(a.key), narrow);
    const tensor values = repeat_heads(e.input(a.value_), narrow);
    extents all = e.output_shape();
    all.back() = narrow.shape().back();
    const tensor query = broadcast_to(narrow, all);  // so that each row of the result has its scores
    std::vector<std::size_t> order(key.rank());
    for (std::size_t d = 0; d != order.size(); ++d) order[d] = d;
    std::swap(order[order.size() - 1], order[order.size() - 2]);
    const tensor transposed = permuted(key, order);
    std::vector<double> scores = matrix_product<double>(
        query.to<double>(), query.shape(), transposed.to<double>(), transposed.shape());
    const double scale = a.scale.value_or(1 / std::sqrt(static_cast<double>(query.shape().back())));
    for (double& x : scores) x *= scale;
    extents shape = e.output_shape();
    shape.back() = key.dim(key.rank() - 2);
    add_mask(scores, shape, e.input(a.mask), a.is_causal);
    std::vector<double> sums = softmax_lines(scores, axis_view(shape, -1), masked_line::zeros);
    e.output().assign(matrix_product<double>(scores, shape, values.to<double>(), values.shape()));
    return sums;
}
void evaluate(
    aten::scaled_dot_product_attention, const args<aten::scaled_dot_product_attention>& a, evaluation& e) {
    attend(e, {a.query, a.key, a.value, a.attn_mask, a.is_causal, a.scale});
}
void evaluate(aten::_scaled_dot_product_flash_attention_for_cpu,
    const args<aten::_scaled_dot_product_flash_attention_for_cpu>& a, evaluation& e) {
    const std::vector<double> sums = attend(e, {a.query, a.key, a.value, a.attn_mask, a.is_causal, a.scale});
    if (e.is_known(1)) e.output(1).assign(sums);
}

constexpr auto kernel = [](auto op, const auto& a, evaluation& e) -> decltype(evaluate(op, a, e)) {
    evaluate(op, a, e);
};

}  // namespace

const kernel_list aten_softmax_kernels = kernels_of<aten::dialect>(kernel);

}  // namespace headrace::eval
