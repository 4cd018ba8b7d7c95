// SPDX-License-Identifier: MIT
// Defines headrace::expand_functions.
#ifndef HEADRACE_QUANTIZATION_EXPAND_FUNCTIONS_HPP
#define HEADRACE_QUANTIZATION_EXPAND_FUNCTIONS_HPP

#include <algorithm>
#include <cmath>

#include <headrace/pass/pass.hpp>
#include <headrace/passes/decompose/expressions.hpp>
#include <headrace/rewrite/arithmetic.hpp>

namespace headrace {

/// Expands functions into the steps that PyTorch's quantizer for TOSA makes of them (ExecuTorch,
/// backends/arm, the passes before annotation), so that each step has a range of its own. The lowering's
/// formulas have fewer nodes; these give the same ranges as the quantizer.
struct expand_functions : pass {
    static constexpr std::string_view summary =
        "layer norm, mean, attention, products and others as the steps that are quantized one by one";

    static auto rewrites() {
        return rules(
            on<aten::layer_norm> =
                [](auto x, const auto& a) {
                    const auto y = normalized(x, a.normalized_shape.size(), a.eps);
                    return affine(y, a, [&](const auto& w) { return of_last_axes(w, y.rank()); });
                },
            on<aten::group_norm> =
                [](auto x, const auto& a) {
                    const int_list shape = x.shape();
                    const std::int64_t parts = shape[0] * a.num_groups;
                    const std::int64_t rest = parts == 0 ? 0 : x.meta().elements() / parts;
                    const auto split = call<aten::reshape>(x, int_list{shape[0], a.num_groups, rest});
                    const auto y = call<aten::reshape>(normalized(split, 1, a.eps), shape);
                    return affine(y, a, [&](const auto& w) { return of_channels(w, y.rank()); });
                },
            on<aten::mean_dim> =
                [](auto x, const auto& a) {
                    return choose(
                        is_floating(x.dtype()) && x.rank() != 0,
                        [&] { return mean_of(x, a.dim.value_or(all_axes(x.rank())), a.keepdim); }, unchanged);
                },
            on<aten::mean> =
                [](auto x) {
                    return choose(
                        is_floating(x.dtype()) && x.rank() != 0,
                        [&] { return mean_of(x, all_axes(x.rank()), false); }, unchanged);
                },
            on<aten::div_tensor> =
                [](auto x, auto y) {
                    return choose(
                        is_floating(x.dtype()) && is_floating(y.dtype()), [&] { return x * reciprocal(y); },
                        unchanged);
                },
            on<aten::floor_divide> =
                [](auto x, auto y) {
                    return choose(
                        is_floating(x.dtype()) && is_floating(y.dtype()),
                        [&] { return floor(x * reciprocal(y)); }, unchanged);
                },
            on<aten::scaled_dot_product_attention> =
                [](auto q, auto k, auto v, const auto& a) {
                    const bool plain = a.dropout_p == 0 && !a.enable_gqa && !a.is_causal && !a.attn_mask;
                    return choose(
                        plain, [&] { return attention(q, k, v, a.scale); }, unchanged);
                },
            on<aten::matmul> =
                [](auto x, auto y) {
                    const bool matrices = x.rank() == 2 && y.rank() == 2;
                    const bool batches = x.rank() >= 3 && y.rank() == x.rank();
                    const bool rows = x.rank() >= 3 && y.rank() == 2;
                    return choose(
                        matrices, [&] { return call<aten::mm>(x, y); }, batches,
                        [&] { return product(x, y); }, rows,
                        [&] {
                            const std::int64_t width = x.size(-1);
                            const std::int64_t count = width == 0 ? 0 : x.meta().elements() / width;
                            const auto flat = call<aten::reshape>(x, int_list{count, width});
                            return call<aten::reshape>(call<aten::mm>(flat, y), x.result_meta().shape);
                        },
                        unchanged);
                },
            on<aten::addmm> =
                [](auto self, auto x, auto y, const auto& a) {
                    const auto xy = scaled(call<aten::mm>(x, y), a.alpha);
                    return choose(a.beta.to_double() == 0, xy, [&] { return scaled(self, a.beta) + xy; });
                },
            on<aten::glu> =
                [](auto x, const auto& a) {
                    const std::int64_t half = x.size(a.dim) / 2;
                    const auto part = [&](std::int64_t i) {
                        return call<aten::slice_tensor>(x, a.dim, i * half, (i + 1) * half);
                    };
                    const auto first = part(0);
                    return first * sigmoid(part(1));
                },
            on<aten::prelu> =
                [](auto x, auto slope) {
                    const auto w = choose(
                        x.rank() > 1 && slope.meta().elements() > 1,
                        [&] { return of_channels(slope, x.rank()); }, slope);
                    const auto positive = clamp(x, 0.0, {});
                    return positive + w * clamp(x, {}, 0.0);
                },
            on<aten::masked_fill_tensor> = [](auto x, auto mask,
                                               auto filling) { return where(mask, filling, x); },
            on<aten::adaptive_avg_pool2d, aten::_adaptive_avg_pool2d> =
                [](auto x, const auto& a) {
                    return choose(
                        x.rank() == 4, [&] { return pooled(x, a.output_size); }, unchanged);
                });
    }

private:
    static int_list all_axes(std::size_t rank) {
        shape_builder axes;
        for (std::size_t i = 0; i != rank; ++i) axes.push_back(static_cast<std::int64_t>(i));
        return int_list(axes);
    }

    // Σx · (1/N) along axes, which are kept with size 1.
    static auto average(const auto& x, const int_list& axes) {
        const auto total = sum(x, axes);
        return total * (1 / reduced_count(x, total));
    }
    static auto mean_of(const auto& x, const int_list& axes, bool keepdim) {
        const auto y = average(x, axes);
        return choose(keepdim, y, [&] { return call<aten::reshape>(y, x.result_meta().shape); });
    }

    // A mean over the last axes is computed on at least four axes, and reshaped.
    static auto centered(const auto& x, std::size_t count) {
        const auto direct = [&] { return average(x, last_axes(count, x.rank())); };
        const auto lifted = [&] {
            shape_builder wide = shape_builder::filled(4 - std::min<std::size_t>(x.rank(), 4), 1);
            wide.append(x.shape());
            const auto y = call<aten::reshape>(x, int_list(wide));
            shape_builder narrow(x.shape());
            for (std::size_t i = narrow.size() - count; i != narrow.size(); ++i) narrow[i] = 1;
            return call<aten::reshape>(average(y, last_axes(count, wide.size())), int_list(narrow));
        };
        const auto mean = choose(x.rank() >= 4, direct, lifted);
        return x - mean;
    }
    static int_list last_axes(std::size_t count, std::size_t rank) {
        shape_builder axes;
        for (std::size_t i = rank - count; i != rank; ++i) axes.push_back(static_cast<std::int64_t>(i));
        return int_list(axes);
    }
    static auto normalized(const auto& x, std::size_t count, double eps) {
        const auto difference = centered(x, count);
        const auto again = centered(x, count);
        const auto variance = average(again * again, last_axes(count, x.rank()));
        return difference * rsqrt(variance + eps);
    }
    static auto affine(const auto& x, const auto& a, const auto& placed) {
        const auto y = with_operand(x, a.weight, [&](auto v, auto w) { return v * placed(w); });
        return with_operand(y, a.bias, [&](auto v, auto b) { return v + placed(b); });
    }
    static auto of_last_axes(const auto& w, std::size_t rank) {
        shape_builder shape = shape_builder::filled(rank - std::min(rank, w.rank()), 1);
        shape.append(w.shape());
        return call<aten::reshape>(w, int_list(shape));
    }
    static auto of_channels(const auto& w, std::size_t rank) {
        shape_builder shape = shape_builder::filled(rank, 1);
        if (rank > 1) shape[1] = w.meta().elements();
        return call<aten::reshape>(w, int_list(shape));
    }

    static auto attention(const auto& q, const auto& k, const auto& v, const std::optional<double>& scale) {
        const double width = static_cast<double>(q.size(-1));
        const double root = std::sqrt(scale.value_or(1 / std::sqrt(width)));
        const auto factor = [&] {
            return code<ops<aten::full>>(
                [root](emit<ops<aten::full>> e, value x) {
                    return e.make<aten::full>({.size = {1}, .fill_value = root, .dtype = e.dtype(x)});
                },
                q);
        };
        // Separate statements: the order of nodes must not depend on the compiler.
        const auto of_queries = factor();
        const auto queries = q * of_queries;
        const auto turned = call<aten::transpose_int>(k, -2, -1);
        const auto of_keys = factor();
        const auto keys = turned * of_keys;
        const auto shares = call<aten::softmax_int>(product(queries, keys), -1);
        return product(shares, v);
    }

    // Batches are brought to equal rank and broadcast, and their axes are joined.
    static auto product(const auto& x, const auto& y) {
        using made = ops<aten::bmm, aten::view, aten::expand>;
        return code<made>([](emit<made> e, value a, value b) { return product_of(e, a, b); }, x, y);
    }
    static value product_of(emit<ops<aten::bmm, aten::view, aten::expand>> e, value a, value b);

    // Output i is the mean over [floor(i · in / out), ceil((i + 1) · in / out)) of each axis.
    static auto pooled(const auto& x, const int_list& size) {
        using made = ops<aten::slice_tensor, aten::avg_pool2d, aten::cat>;
        return code<made>([&](emit<made> e, value v) { return pool(e, v, size); }, x);
    }
    static value pool(
        emit<ops<aten::slice_tensor, aten::avg_pool2d, aten::cat>> e, value v, const int_list& size);
};
HEADRACE_COMPILED_PASS(expand_functions);

}  // namespace headrace

#endif
