// SPDX-License-Identifier: MIT
// Defines headrace::decompose_products: products of vectors and matrices in PyTorch's many forms.
#ifndef HEADRACE_PASSES_DECOMPOSE_PRODUCTS_HPP
#define HEADRACE_PASSES_DECOMPOSE_PRODUCTS_HPP

#include <headrace/infer/aten/distance.hpp>
#include <headrace/passes/decompose/expressions.hpp>
#include <headrace/passes/support/slicing.hpp>

namespace headrace {

struct decompose_products : pass_in<decomposition> {
    static constexpr std::string_view summary =
        "inner, tensordot, bilinear, multi_dot as matmul; kron, cross, cov as mul and sum; vander";

    static auto rewrites() {
        return rules(
            on<aten::chain_matmul> =
                code<made>([](emit<made> e, const auto& a) { return chained(e, a.matrices); }),
            on<aten::linalg_multi_dot> =
                code<made>([](emit<made> e, const auto& a) { return chained(e, a.tensors); }),
            on<aten::linalg_matrix_power> = code<power>(),
            on<aten::vdot> = [](auto x, auto y) { return call<aten::dot>(x, y); },
            on<aten::inner> =
                [](auto x, auto y) {
                    return choose(
                        x.rank() == 0 || y.rank() == 0, [&] { return x * y; },
                        [&] {
                            const auto product = call<aten::matmul>(rows(x), transposed_matrix(rows(y)));
                            return viewed(product, x.result_meta().shape);
                        });
                },
            on<aten::tensordot> =
                [](auto x, auto y, const auto& a) {
                    // An axis of size 1 is broadcast, so the other tensor is summed along its axis.
                    const auto left = summed(x, a.dims_self, y, a.dims_other);
                    const auto right = summed(y, a.dims_other, x, a.dims_self);
                    const auto product = call<aten::matmul>(
                        matrix(left, a.dims_self, false), matrix(right, a.dims_other, true));
                    return viewed(product, x.result_meta().shape);
                },
            on<aten::kron> =
                [](auto x, auto y) {
                    const int_list shape = x.result_meta().shape;
                    return refuse_if(2 * shape.size() > shape_builder::capacity, x, "its rank is too large",
                        [&] { return viewed(spread(x, false) * spread(y, true), shape); });
                },
            on<aten::linalg_cross, aten::cross> =
                [](auto x, auto y, const auto& a) {
                    const auto found = cross_axis(x.shape(), a.dim);
                    const std::int64_t axis = found ? static_cast<std::int64_t>(found.value()) : 0;
                    const auto turned = [&](const auto& v, std::int64_t by) {
                        return call<aten::roll>(v, int_list{by}, int_list{axis});
                    };
                    return turned(x, -1) * turned(y, -2) - turned(x, -2) * turned(y, -1);
                },
            on<aten::linalg_vecdot> = [](auto x, auto y,
                                          const auto& a) { return in_result_type(sum_along(x * y, a.dim)); },
            on<aten::addmv> =
                [](auto x, auto matrix, auto vector, const auto& a) {
                    return scaled(call<aten::mv>(matrix, vector), a.alpha) + scaled(x, a.beta);
                },
            on<aten::addr> =
                [](auto x, auto v1, auto v2, const auto& a) {
                    return in_result_type(scaled(unsqueezed(v1, 1) * v2, a.alpha) + scaled(x, a.beta));
                },
            on<aten::addbmm> =
                [](auto x, auto b1, auto b2, const auto& a) {
                    const auto total = sum_along(call<aten::bmm>(b1, b2), 0);
                    return scaled(as(total, x.dtype()), a.alpha) + scaled(x, a.beta);
                },
            // Σ_ij x_i W_oij y_j as (x · W) · y.
            on<aten::bilinear> =
                [](auto x, auto y, auto weight, const auto& a) {
                    const std::int64_t outputs = weight.size(0);
                    const std::int64_t in1 = weight.size(1);
                    const std::int64_t in2 = weight.size(2);
                    const std::int64_t count = in1 == 0 ? 0 : x.meta().elements() / in1;
                    const auto matrix = viewed(call<aten::permute>(weight, int_list{1, 0, 2}),
                        int_list{in1, saturating_mul(outputs, in2)});
                    const auto half = viewed(call<aten::matmul>(viewed(x, int_list{count, in1}), matrix),
                        int_list{count, outputs, in2});
                    const auto whole = sum_along(half * viewed(y, int_list{count, 1, in2}), -1);
                    const auto biased =
                        with_operand(whole, a.bias, [](auto v, auto b) { return v + flat(b); });
                    return as_result(biased);
                },
            on<aten::linalg_vander> = [](auto x) { return powers(x); },
            on<aten::vander> =
                [](auto x, const auto& a) {
                    return choose(
                        a.increasing, [&] { return powers(x); },
                        [&] { return call<aten::flip>(powers(x), int_list{-1}); });
                },
            on<aten::cov> =
                [](auto x, const auto& a) {
                    return refuse_if(a.fweights || a.aweights, x,
                        "weights of observations; multiply them in before it",
                        [&] { return as_result(covariance(observations(x), a.correction)); });
                },
            on<aten::corrcoef> =
                [](auto x) {
                    const auto square = covariance(observations(x), 1);
                    const auto deviation =
                        sqrt(viewed(call<aten::diagonal>(square), int_list{square.size(0), 1}));
                    const auto ratio = square / deviation / transposed_matrix(deviation);
                    return as_result(clamp(ratio, scalar(-1.0), scalar(1.0)));
                });
    }

private:
    using made = ops<aten::matmul>;
    static value chained(emit<made> e, const list<value>& factors) {
        value product = factors[0];
        for (std::size_t i = 1; i != factors.size(); ++i) product = e.make<aten::matmul>(product, factors[i]);
        return product;
    }
    static value power(emit<made> e, const args<aten::linalg_matrix_power>& a) {
        if (a.n < 0)
            return e.unsupported("a negative power needs an inverse, for which there is no lowering");
        const tensor_meta& result = e.result_meta();
        if (a.n == 0) return identity(e, result.dtype, result.shape, result.shape.back());
        return repeated_product<aten::matmul>(e, a.self, a.n);
    }
    // Reshapes to [rows, columns]: all axes except the last become rows.
    static auto rows(const auto& x) {
        const std::int64_t columns = x.size(-1);
        return viewed(x, int_list{columns == 0 ? 0 : x.meta().elements() / columns, columns});
    }
    static shape_builder normalized(const int_list& axes, std::size_t rank) {
        shape_builder all;
        for (const std::int64_t axis : axes)
            all.push_back(static_cast<std::int64_t>(normalized_axis(axis, rank).value_or(0)));
        return all;
    }
    static auto summed(const auto& x, const int_list& axes, const auto& other, const int_list& other_axes) {
        shape_builder longer;
        for (std::size_t i = 0; i < axes.size() && i < other_axes.size(); ++i) {
            if (other.size(other_axes[i]) == 1 && x.size(axes[i]) != 1) longer.push_back(axes[i]);
        }
        return choose(longer.empty(), x,
            [&] { return as(call<aten::sum_dim_intlist>(x, int_list(longer), true), x.dtype()); });
    }
    // Permutes to [kept axes…, contracted axes…], or the other way round, and reshapes to a matrix.
    static auto matrix(const auto& v, const int_list& axes, bool contracted_first) {
        const shape_builder inner = normalized(axes, v.rank());
        shape_builder outer;
        for (std::int64_t i = 0; i != static_cast<std::int64_t>(v.rank()); ++i) {
            if (std::count(inner.begin(), inner.end(), i) == 0) outer.push_back(i);
        }
        std::int64_t contracted = 1;
        for (const std::int64_t i : inner) contracted = saturating_mul(contracted, v.size(i));
        const std::int64_t kept = contracted == 0 ? 0 : v.meta().elements() / contracted;
        shape_builder order = contracted_first ? inner : outer;
        order.append(contracted_first ? outer : inner);
        return viewed(call<aten::permute>(v, order),
            contracted_first ? int_list{contracted, kept} : int_list{kept, contracted});
    }
    // Views each axis of the result of kron as two, of which the factor has the first or the second.
    static auto spread(const auto& v, bool second) {
        const std::size_t rank = v.result_meta().rank();
        shape_builder shape = shape_builder::filled(2 * rank, 1);
        for (std::size_t i = 0; i != v.rank(); ++i)
            shape[2 * (rank - v.rank() + i) + (second ? 1 : 0)] = v.shape()[i];
        return viewed(v, int_list(shape));
    }
    // Returns the powers of each number, from 0 on, as many as the result has along its last axis.
    static auto powers(const auto& x) {
        const dtype type = x.result_meta().dtype;
        const int_list shape = x.result_meta().shape;
        const auto ones = unsqueezed(x.filled(1, type), -1);
        const auto others = [&] {
            shape_builder wide(shape);
            wide.back() -= 1;
            const auto base = call<aten::expand>(unsqueezed(as(x, type), -1), int_list(wide));
            return call<aten::cat>(tensors(ones, call<aten::cumprod>(base, -1)), -1);
        };
        return choose(
            shape.back() == 0, [&] { return x.unsupported("no powers: TOSA has no empty tensors"); },
            shape.back() == 1, ones, others);
    }
    // Reshapes to [variables, observations] in float32.
    static auto observations(const auto& x) {
        return viewed(real(x), x.rank() == 2 ? x.shape() : int_list{1, x.meta().elements()});
    }
    static auto covariance(const auto& x, std::int64_t correction) {
        const auto centred = x - mean(x, int_list{1});
        const double freedom = static_cast<double>(x.size(1)) - static_cast<double>(correction);
        return call<aten::matmul>(centred, transposed_matrix(centred)) * (1 / (freedom > 0 ? freedom : 0));
    }
};
HEADRACE_COMPILED_PASS(decompose_products);

}  // namespace headrace

#endif
