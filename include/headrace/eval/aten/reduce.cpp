// SPDX-License-Identifier: MIT
// Defines the kernels of ATen's reductions, and of cumsum, cumprod, topk and sort.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>

#include <headrace/dialect/aten.hpp>
#include <headrace/eval/kernels.hpp>
#include <headrace/eval/product.hpp>
#include <headrace/eval/reduce.hpp>

namespace headrace::eval {

namespace {

/// A reduction over the axes that an op names, or over all axes if it names none.
template <class Args>
[[nodiscard]] reduction reduction_of(const evaluation& e, const Args& a) {
    if constexpr (requires { a.dim; }) {
        return reduction(e.input(a.self).shape(), axes_list(a.dim));
    } else {
        return reduction(e.input(a.self).shape(), axes_list(std::nullopt));
    }
}

/// Returns the operand in the dtype that the op computes in; PyTorch casts before it sums.
template <class T>
std::vector<T> summands(evaluation& e, value self) {
    return to_numbers<T>(e.input(self).cast(e.output_type()), e.output_type());
}

/// Sums rows of float32 in PyTorch's order and divides each sum; false if the reduction is of another form.
[[nodiscard]] inline bool sum_rows(evaluation& e, const tensor& operand, const reduction& r, float divisor) {
    if (e.output_type() != dtype::float32 || !r.takes_rows()) return false;
    const tensor in = operand.cast(dtype::float32);
    std::vector<float> sums;
    sums.reserve(idx(r.result_count()));
    for (std::int64_t row = 0; row != r.result_count(); ++row)
        sums.push_back(sum_of(in.data<float>().subspan(idx(row * r.count()), idx(r.count()))) / divisor);
    e.output().assign(sums);
    return true;
}

template <one_of<ops<aten::sum, aten::sum_dim_intlist>> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    if (sum_rows(e, e.input(a.self), reduction_of(e, a), 1)) return;
    visit_compute(e.output_type(),
        [&]<class T>(T) { e.output().assign(reduction_of(e, a).fold(summands<T>(e, a.self), T{}, plus())); });
}
template <one_of<ops<aten::prod, aten::prod_dim_int>> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    visit_compute(e.output_type(), [&]<class T>(T) {
        e.output().assign(reduction_of(e, a).fold(summands<T>(e, a.self), T{1}, times()));
    });
}
void evaluate(aten::nansum, const args<aten::nansum>& a, evaluation& e) {
    visit_product(e.output_type(), [&]<class T>(T) {
        std::vector<T> numbers = e.input(a.self).cast(e.output_type()).to<T>();
        for (T& x : numbers) x = x != x ? T{} : x;
        const tensor without = tensor::of(e.output_type(), e.input(a.self).shape(), numbers);
        if (sum_rows(e, without, reduction_of(e, a), 1)) return;
        e.output().assign(reduction_of(e, a).fold(numbers, T{}, plus()));
    });
}
template <one_of<ops<aten::mean, aten::mean_dim>> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    const reduction r = reduction_of(e, a);
    if (sum_rows(e, e.input(a.self), r, static_cast<float>(r.count()))) return;
    e.output().assign(r.mean(to_real(e.input(a.self), e.output_type())));
}

template <one_of<ops<aten::amax, aten::max>> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    visit_compute(e.output_type(), [&]<class T>(T) {
        e.output().assign(
            reduction_of(e, a).fold(e.input(a.self).template to<T>(), lowest_number<T>(), larger()));
    });
}
template <one_of<ops<aten::amin, aten::min>> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    visit_compute(e.output_type(), [&]<class T>(T) {
        e.output().assign(
            reduction_of(e, a).fold(e.input(a.self).template to<T>(), highest_number<T>(), smaller()));
    });
}
void evaluate(aten::aminmax, const args<aten::aminmax>& a, evaluation& e) {
    visit_compute(e.output_type(), [&]<class T>(T) {
        const std::vector<T> in = e.input(a.self).to<T>();
        e.output(0).assign(reduction_of(e, a).fold(in, highest_number<T>(), smaller()));
        e.output(1).assign(reduction_of(e, a).fold(in, lowest_number<T>(), larger()));
    });
}

template <one_of<ops<aten::argmax, aten::argmin>> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    const tensor& in = e.input(a.self);
    const axis_view view = a.dim ? axis_view(in.shape(), *a.dim) : axis_view(extents{in.size()}, 0);
    if constexpr (std::is_same_v<Op, aten::argmax>) {
        e.output().assign(positions_of_best(in, view, std::greater<>()));
    } else {
        e.output().assign(positions_of_best(in, view, std::less<>()));
    }
}
template <one_of<ops<aten::max_dim, aten::min_dim>> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    constexpr bool is_max = std::is_same_v<Op, aten::max_dim>;
    const tensor& in = e.input(a.self);
    const axis_view view(in.shape(), a.dim);
    const auto beats = [](auto x, auto y) { return is_max ? x > y : x < y; };
    const std::vector<std::int64_t> best = positions_of_best(in, view, beats);
    visit_width(in.type(), [&]<class U>(U) {
        std::size_t line = 0;
        view.for_each_line([&](std::int64_t o, std::int64_t k) {
            e.output(0).mutable_data<U>()[line] = in.data<U>()[view.at(o, best[line], k)];
            ++line;
        });
    });
    if (e.is_known(1)) e.output(1).assign(best);
}

/// Returns the positions of the elements along each line in sorted order, the first `chosen.size` of them.
/// Equal numbers keep their order; NaN counts as the largest.
[[nodiscard]] std::vector<std::int64_t> positions_in_order(
    const tensor& in, const axis_view& view, const axis_view& chosen, bool descending) {
    std::vector<std::int64_t> positions(idx(chosen.outer * chosen.size * chosen.inner));
    std::vector<std::int64_t> line(idx(view.size));
    visit_compute(in.type(), [&]<class T>(T) {
        const std::vector<T> numbers = in.to<T>();
        const auto is_above = [](T x, T y) { return x > y || (x != x && y == y); };
        view.for_each_line([&](std::int64_t o, std::int64_t k) {
            std::iota(line.begin(), line.end(), 0);
            std::ranges::stable_sort(line, [&](std::int64_t i, std::int64_t j) {
                const T x = numbers[view.at(o, i, k)];
                const T y = numbers[view.at(o, j, k)];
                return descending ? is_above(x, y) : is_above(y, x);
            });
            for (std::int64_t i = 0; i != chosen.size; ++i) positions[chosen.at(o, i, k)] = line[idx(i)];
        });
    });
    return positions;
}
void take_from_lines(tensor& out, const tensor& in, const axis_view& view, const axis_view& chosen,
    std::span<const std::int64_t> positions) {
    visit_width(in.type(), [&]<class U>(U) {
        chosen.for_each_line([&](std::int64_t o, std::int64_t k) {
            for (std::int64_t i = 0; i != chosen.size; ++i) {
                const std::size_t to = chosen.at(o, i, k);
                out.mutable_data<U>()[to] = in.data<U>()[view.at(o, positions[to], k)];
            }
        });
    });
}
void evaluate(aten::topk, const args<aten::topk>& a, evaluation& e) {
    const tensor& in = e.input(a.self);
    const axis_view view(in.shape(), a.dim);
    const axis_view chosen(e.output_shape(), a.dim);
    const std::vector<std::int64_t> positions = positions_in_order(in, view, chosen, a.largest);
    take_from_lines(e.output(0), in, view, chosen, positions);
    if (e.is_known(1)) e.output(1).assign(positions);
}
/// All sorts are stable; PyTorch's are too, unless told otherwise.
template <one_of<aten::sort_ops> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    const tensor& in = e.input(a.self);
    std::int64_t axis = 0;
    bool descending = false;
    if constexpr (!std::is_same_v<Op, aten::msort>) {
        axis = a.dim;
        descending = a.descending;
    }
    const axis_view view(in.shape(), axis);
    const std::vector<std::int64_t> positions = positions_in_order(in, view, view, descending);
    if constexpr (has_trait<Op>(trait::locating)) {
        e.output().assign(positions);
    } else {
        take_from_lines(e.output(0), in, view, view, positions);
        if (e.output_count() == 2 && e.is_known(1)) e.output(1).assign(positions);
    }
}

[[nodiscard]] inline std::vector<std::int64_t> flags_of(const tensor& t) {
    return t.cast(dtype::boolean).to<std::int64_t>();
}
/// An empty list of axes reduces all axes or none: the shape of the result decides.
template <class Args>
[[nodiscard]] bool reduces_nothing(const evaluation& e, const Args& a) {
    return e.output_shape() == e.input(a.self).shape();
}
template <one_of<ops<aten::any, aten::any_dim, aten::any_dims>> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    const std::vector<std::int64_t> flags = flags_of(e.input(a.self));
    const bool as_is = reduces_nothing(e, a);
    e.output().assign(as_is ? flags : reduction_of(e, a).fold(flags, std::int64_t{0}, std::bit_or<>()));
}
template <one_of<ops<aten::all, aten::all_dim, aten::all_dims>> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    const std::vector<std::int64_t> flags = flags_of(e.input(a.self));
    const bool as_is = reduces_nothing(e, a);
    e.output().assign(as_is ? flags : reduction_of(e, a).fold(flags, std::int64_t{1}, std::bit_and<>()));
}

template <class Args>
[[nodiscard]] double correction_of(const Args& a) {
    if constexpr (requires { a.correction; }) {
        return a.correction.value_or(scalar(1)).to_double();
    } else {
        return a.unbiased ? 1 : 0;
    }
}
template <class Args>
[[nodiscard]] std::vector<double> variance_of(const evaluation& e, const Args& a) {
    return reduction_of(e, a).variance(e.input(a.self).template to<double>(), correction_of(a));
}
template <class Args>
[[nodiscard]] std::vector<double> deviation_of(const evaluation& e, const Args& a) {
    std::vector<double> out = variance_of(e, a);
    for (double& x : out) x = std::sqrt(x);
    return out;
}
template <class Args>
[[nodiscard]] std::vector<double> mean_of(const evaluation& e, const Args& a) {
    return reduction_of(e, a).mean(e.input(a.self).template to<double>());
}
template <one_of<ops<aten::var, aten::var_correction, aten::var_dim>> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    e.output().assign(variance_of(e, a));
}
template <one_of<ops<aten::std_, aten::std_correction, aten::std_dim>> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    e.output().assign(deviation_of(e, a));
}
template <one_of<ops<aten::var_mean_correction, aten::var_mean_dim>> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    e.output(0).assign(variance_of(e, a));
    e.output(1).assign(mean_of(e, a));
}
template <one_of<ops<aten::std_mean_correction, aten::std_mean_dim>> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    e.output(0).assign(deviation_of(e, a));
    e.output(1).assign(mean_of(e, a));
}

/// Returns the p-norm of the elements reduced into each result.
[[nodiscard]] std::vector<double> norm_of(const reduction& r, std::vector<double> x, double p) {
    for (double& v : x) v = std::fabs(v);
    if (std::isinf(p)) {
        return p > 0 ? r.fold(x, 0.0, larger()) : r.fold(x, highest_number<double>(), smaller());
    }
    const auto add = [p](double sum, double v) {
        return sum + (p == 0 ? (v != 0) : p == 2 ? v * v : std::pow(v, p));
    };
    std::vector<double> out = r.fold(x, 0.0, add);
    for (double& v : out) v = p == 0 || p == 1 ? v : p == 2 ? std::sqrt(v) : std::pow(v, 1 / p);
    return out;
}
void evaluate(aten::linalg_vector_norm, const args<aten::linalg_vector_norm>& a, evaluation& e) {
    const std::vector<double> in = to_real(e.input(a.self), e.output_type());
    e.output().assign(norm_of(reduction_of(e, a), in, a.ord.to_double()));
}
void evaluate(aten::norm_scalar, const args<aten::norm_scalar>& a, evaluation& e) {
    e.output().assign(norm_of(reduction_of(e, a), e.input(a.self).to<double>(), a.p.to_double()));
}
void evaluate(aten::norm_scalaropt_dim, const args<aten::norm_scalaropt_dim>& a, evaluation& e) {
    const double p = a.p.value_or(scalar(2)).to_double();
    e.output().assign(norm_of(reduction_of(e, a), e.input(a.self).to<double>(), p));
}
void evaluate(aten::logsumexp, const args<aten::logsumexp>& a, evaluation& e) {
    const reduction r = reduction_of(e, a);
    const std::vector<double> in = e.input(a.self).to<double>();
    std::vector<double> top = r.fold(in, lowest_number<double>(), larger());
    for (double& x : top) x = std::isinf(x) ? 0 : x;
    std::vector<double> sums(top.size(), 0.0);
    r.for_each([&](std::size_t i, std::size_t k) { sums[k] += std::exp(in[i] - top[k]); });
    for (std::size_t k = 0; k != sums.size(); ++k) sums[k] = std::log(sums[k]) + top[k];
    e.output().assign(sums);
}

template <one_of<ops<aten::cumsum, aten::cumprod>> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    const std::conditional_t<std::is_same_v<Op, aten::cumsum>, plus, times> joined;
    const axis_view view(e.output_shape(), a.dim);
    visit_compute(e.output_type(), [&]<class T>(T) {
        std::vector<T> numbers = summands<T>(e, a.self);
        view.for_each_line([&](std::int64_t o, std::int64_t k) {
            for (std::int64_t i = 1; i < view.size; ++i) {
                numbers[view.at(o, i, k)] = joined(numbers[view.at(o, i - 1, k)], numbers[view.at(o, i, k)]);
            }
        });
        e.output().assign(numbers);
    });
}

constexpr auto kernel = [](auto op, const auto& a, evaluation& e) -> decltype(evaluate(op, a, e)) {
    evaluate(op, a, e);
};

}  // namespace

const kernel_list aten_reduce_kernels = kernels_of<aten::dialect>(kernel);

}  // namespace headrace::eval
