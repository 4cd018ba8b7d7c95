// SPDX-License-Identifier: MIT
// Defines headrace::decompose_losses and decompose_class_losses: the losses of torch.nn.functional.
#ifndef HEADRACE_PASSES_DECOMPOSE_LOSSES_HPP
#define HEADRACE_PASSES_DECOMPOSE_LOSSES_HPP

#include <numbers>

#include <headrace/passes/decompose/expressions.hpp>

namespace headrace {

/// Returns the mean or the sum of all losses, or the losses themselves.
template <reading X>
[[nodiscard]] auto reduced_loss(const X& loss, const auto& a) {
    return choose(
        a.reduction == 1, [&] { return call<aten::mean_dim>(loss, std::nullopt, false); }, a.reduction == 2,
        [&] { return total(loss); }, loss);
}

struct decompose_losses : pass_in<decomposition> {
    static constexpr std::string_view summary =
        "losses of elements and of rows as arithmetic, and their mean or sum";

    static auto rewrites() {
        return rules(
            on<aten::l1_loss> =
                [](auto x, auto y, const auto& a) {
                    const dtype type = loss_type(x, result_type(x.meta(), y.meta()));
                    return in_result_type(reduced_loss(abs(as(x, type) - as(y, type)), a));
                },
            on<aten::hinge_embedding_loss> =
                [](auto x, auto target, const auto& a) {
                    const dtype type = loss_type(x, x.dtype());
                    const auto self = as(x, type);
                    const auto side = as(target, is_floating(target.dtype()) ? dtype::float32 : dtype::int64);
                    const auto apart = where(side == 1, 0, max(a.margin - self, 0));
                    return in_result_type(reduced_loss(apart + where(side == -1, 0, self), a));
                },
            real_rules(
                on<aten::mse_loss> =
                    [](auto x, auto y, const auto& a) {
                        const auto d = x - y;
                        return reduced_loss(d * d, a);
                    },
                on<aten::smooth_l1_loss> =
                    [](auto x, auto y, const auto& a) {
                        const auto d = abs(x - y);
                        const auto smooth = [&] {
                            return where(d < a.beta, d * d * (0.5 / a.beta), d - 0.5 * a.beta);
                        };
                        return reduced_loss(choose(a.beta == 0, d, smooth), a);
                    },
                on<aten::huber_loss> =
                    [](auto x, auto y, const auto& a) {
                        const auto d = abs(x - y);
                        return reduced_loss(
                            where(d <= a.delta, d * d * 0.5, (d - 0.5 * a.delta) * a.delta), a);
                    },
                on<aten::soft_margin_loss> =
                    [](auto x, auto y, const auto& a) { return reduced_loss(log1p(exp(-(x * y))), a); },
                // Logarithms are at least -100, so that a certain but wrong prediction has a finite loss.
                on<aten::binary_cross_entropy> =
                    [](auto x, auto y, const auto& a) {
                        const auto sure = max(log(x), -100);
                        const auto unsure = max(log1p(-x), -100);
                        return reduced_loss(weighted((y - 1) * unsure - y * sure, a.weight), a);
                    },
                // -log(sigmoid(x)) as log1p(exp(-|x|)) + max(-x, 0), in which no exponential overflows.
                on<aten::binary_cross_entropy_with_logits> =
                    [](auto x, auto y, const auto& a) {
                        const auto softplus = log1p(exp(-abs(x))) + max(-x, 0);
                        const auto scaled_by = with_operand(softplus, a.pos_weight,
                            [&](auto v, auto w) { return ((real(w) - 1) * y + 1) * v; });
                        return reduced_loss(weighted((1 - y) * x + scaled_by, a.weight), a);
                    },
                on<aten::kl_div> =
                    [](auto x, auto y, const auto& a) {
                        const auto loss = choose(
                            a.log_target, [&] { return exp(y) * (y - x); },
                            [&] { return where(y == 0, 0, y * log(y)) - y * x; });
                        return reduced_loss(loss, a);
                    },
                on<aten::poisson_nll_loss> =
                    [](auto x, auto y, const auto& a) {
                        const auto plain = choose(
                            a.log_input, [&] { return exp(x) - y * x; },
                            [&] { return x - y * log(x + a.eps); });
                        const auto with_stirling = [&] {  // an approximation of log(y!)
                            const auto stirling = y * log(y) - y + log(y * (2 * std::numbers::pi)) * 0.5;
                            return plain + where(y <= 1, 0, stirling);
                        };
                        return reduced_loss(choose(a.full, with_stirling, plain), a);
                    },
                on<aten::margin_ranking_loss> =
                    [](auto x, auto y, auto target, const auto& a) {
                        return reduced_loss(max(a.margin - target * (x - y), 0), a);
                    },
                on<aten::cosine_embedding_loss> =
                    [](auto x, auto y, auto target, const auto& a) {
                        const auto dot = sum_along(x * y, -1);
                        const auto squares = (sum_along(x * x, -1) + 1e-12) * (sum_along(y * y, -1) + 1e-12);
                        const auto cosine = dot / sqrt(squares);
                        const auto apart = where(target == -1, max(cosine - a.margin, 0), 0);
                        return reduced_loss(where(target == 1, 1 - cosine, 0) + apart, a);
                    },
                on<aten::triplet_margin_loss> =
                    [](auto x, auto near, auto far, const auto& a) {
                        const auto distance = [&](const auto& u, const auto& v) {
                            const auto d = u - v + a.eps;
                            return call<aten::linalg_vector_norm>(d, scalar(a.p), int_list{-1}, false);
                        };
                        const auto away = distance(x, far);
                        const auto swapped = [&] { return min(away, distance(near, far)); };
                        const auto farthest = choose(a.swap, swapped, away);
                        return reduced_loss(max(distance(x, near) - farthest + a.margin, 0), a);
                    }));
    }

private:
    // Integers are computed in their own dtype, which wraps around.
    static dtype loss_type(const auto& x, dtype type) {
        return is_floating(x.result_meta().dtype) ? dtype::float32 : type;
    }
    static auto weighted(const auto& loss, const std::optional<value>& weight) {
        return with_operand(loss, weight, [](auto v, auto w) { return v * real(w); });
    }
};
HEADRACE_COMPILED_PASS(decompose_losses);

/// Decomposes losses over classes; the target has a class for each row, or a probability for each class.
struct decompose_class_losses : pass_in<decomposition> {
    static constexpr std::string_view summary =
        "nll_loss, cross_entropy, losses of margins by gathering the numbers of own classes";

    static auto rewrites() {
        return rules(
            on<aten::nll_loss, aten::nll_loss2d, aten::nll_loss_nd> =
                [](auto x, auto target, const auto& a) {
                    return in_result_type(std::get<0>(by_index(real(x), target, a, 0)));
                },
            on<aten::nll_loss_forward, aten::nll_loss2d_forward> =
                [](auto x, auto target, const auto& a) {
                    const auto [loss, weight] = by_index(real(x), target, a, 0);
                    return std::tuple(in_result_type(loss), in_result_type(weight, 1));
                },
            on<aten::cross_entropy_loss> =
                [](auto x, auto target, const auto& a) {
                    const auto logs = call<aten::log_softmax_int>(real(x), axis_of_classes(x));
                    const bool names = !(shape_builder(x.shape()) == shape_builder(target.shape()));
                    return in_result_type(choose(
                        names, [&] { return std::get<0>(by_index(logs, target, a, a.label_smoothing)); },
                        [&] { return by_probability(logs, real(target), a); }));
                },
            on<aten::multi_margin_loss> =
                [](auto x, auto target, const auto& a) {
                    const std::int64_t rows = x.rank() == 1 ? 1 : x.size(0);
                    const std::int64_t classes = x.size(-1);
                    const auto wide = viewed(real(x), int_list{rows, classes});
                    const auto index = viewed(target, int_list{rows, 1});
                    const auto is_own = index == numbers(x, classes);
                    const auto own = call<aten::gather>(wide, 1, index);
                    const auto margin = max(wide - own + a.margin.to_double(), 0);
                    const auto raised = choose(a.p.to_double() != 2, margin, [&] { return margin * margin; });
                    const auto scaled = with_operand(raised, a.weight, [&](auto v, auto w) {
                        return v * viewed(of_classes(real(w), index), int_list{rows, 1});
                    });
                    const auto sums = sum_along(where(is_own, 0, scaled), 1);
                    return as_result(reduced_loss(sums / static_cast<double>(classes), a));
                },
            // Compares each class that the target names, up to the first -1, with each other class.
            on<aten::multilabel_margin_loss> =
                [](auto x, auto target, const auto& a) {
                    const std::int64_t rows = x.rank() == 2 ? x.size(0) : 1;
                    const std::int64_t classes = x.rank() == 0 ? 1 : x.size(-1);
                    const auto wide = viewed(real(x), int_list{rows, classes});
                    const auto index = viewed(target, int_list{rows, classes});
                    const auto each = numbers(x, classes);
                    const auto counts =
                        each < smallest(where(index == -1, each, static_cast<double>(classes)), int_list{1});
                    const auto own = call<aten::gather>(wide, 1, where(counts, index, 0));
                    const auto is_own = call<aten::any_dim>(
                        unsqueezed(where(counts, index, -1), 2) == unsqueezed(each, 1), 1);
                    const auto pairs = logical_and(unsqueezed(counts, 2), unsqueezed(!is_own, 1));
                    const auto margin = max(unsqueezed(wide, 1) - unsqueezed(own, 2) + 1, 0);
                    const auto loss =
                        sum(where(pairs, margin, 0), int_list{1, 2}) / static_cast<double>(classes);
                    return as_result(reduced_loss(loss, a));
                });
    }

private:
    // 0, 1, …, as a row.
    static auto numbers(const auto& x, std::int64_t count) {
        return numbered(x, dtype::int64, shape_builder{1, count});
    }
    static std::int64_t axis_of_classes(const auto& x) { return x.rank() == 1 ? 0 : 1; }
    // Returns weight[index], for indices of any shape.
    static auto of_classes(const auto& weight, const auto& index) {
        return viewed(call<aten::embedding>(unsqueezed(weight, 1), index), index.shape());
    }
    // Returns the loss, and the total weight of all rows; those whose target is ignore_index do not count.
    static auto by_index(const auto& logs, const auto& target, const auto& a, double smoothing) {
        const std::int64_t axis = axis_of_classes(logs);
        const auto index = as(target, dtype::int64);
        const auto counts = !(index == index.constant(scalar(a.ignore_index)));
        const auto safe = where(counts, index, 0);
        const auto own =
            call<aten::squeeze_dim>(call<aten::gather>(logs, axis, unsqueezed(safe, axis)), axis);
        const auto ones = where(counts, own.constant(1), 0);
        const auto weights =
            with_operand(ones, a.weight, [&](auto v, auto w) { return v * of_classes(real(w), safe); });
        const auto smoothed = [&] {
            const auto rows = sum_along(weighted(logs, a.weight, axis), axis);
            return own * weights * (smoothing - 1) -
                rows * (smoothing / static_cast<double>(logs.size(axis)));
        };
        const auto each =
            where(counts, choose(smoothing != 0, smoothed, [&] { return -(own * weights); }), 0);
        const auto sum_of_weights = total(weights);
        const auto loss = choose(
            a.reduction == 1, [&] { return total(each) / sum_of_weights; }, a.reduction == 2,
            [&] { return total(each); }, each);
        return std::tuple(loss, sum_of_weights);
    }
    // Multiplies by the weights of classes, along their axis.
    static auto weighted(const auto& x, const std::optional<value>& weight, std::int64_t axis) {
        return with_operand(x, weight, [&](auto v, auto w) {
            return v * real(viewed(w, int_list(line_shape(v.rank(), axis, w.meta().elements()))));
        });
    }
    static auto by_probability(const auto& logs, const auto& target, const auto& a) {
        const std::int64_t axis = axis_of_classes(logs);
        const auto classes = static_cast<double>(logs.size(axis));
        const double smoothing = a.label_smoothing;
        const auto smoothed =
            choose(smoothing == 0, target, [&] { return target * (1 - smoothing) + smoothing / classes; });
        const auto each = weighted(logs * smoothed, a.weight, axis);
        const double rows = static_cast<double>(logs.meta().elements()) / classes;
        return choose(
            a.reduction == 1, [&] { return total(each) * (-1 / rows); }, a.reduction == 2,
            [&] { return -total(each); }, [&] { return -sum_along(each, axis); });
    }
};
HEADRACE_COMPILED_PASS(decompose_class_losses);

}  // namespace headrace

#endif
