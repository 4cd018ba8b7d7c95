// SPDX-License-Identifier: MIT
// Defines headrace::decompose_var.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_VAR_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_VAR_HPP

#include <algorithm>
#include <tuple>

#include <headrace/dialect/aten.hpp>
#include <headrace/infer/aten.hpp>
#include <headrace/passes/decompose/decompose_mean.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/reducing.hpp>

namespace headrace {

/// var(x) = sum((x - mean(x))^2) * (1 / max(0, N - correction)), and std(x) = sqrt(var(x)) (PyTorch,
/// torch.var). Where N <= correction that is 0 * inf = NaN or inf, as PyTorch has it. Two passes, in FP32:
/// the mean of the squares less the square of the mean would cancel.
struct decompose_var : pass {
    using phase = decomposition;
    using targets =
        ops<aten::var, aten::var_dim, aten::var_correction, aten::std_, aten::std_dim, aten::std_correction,
            aten::var_mean_correction, aten::var_mean_dim, aten::std_mean_correction, aten::std_mean_dim>;
    using produces = joined<produces_of<decompose_mean>, ops<aten::sub_tensor, aten::sqrt, aten::reshape>>;

    template <one_of<ops<aten::var, aten::var_dim, aten::var_correction>> Op>
    value operator()(Op, const args<Op>& a, emit<produces>& e) const {
        return narrowed(e, spread(e, a).variance);
    }
    template <one_of<ops<aten::std_, aten::std_dim, aten::std_correction>> Op>
    value operator()(Op, const args<Op>& a, emit<produces>& e) const {
        return narrowed(e, e.make<aten::sqrt>(spread(e, a).variance));
    }
    template <one_of<
        ops<aten::var_mean_correction, aten::var_mean_dim, aten::std_mean_correction, aten::std_mean_dim>>
                  Op>
    std::tuple<value, value> operator()(Op, const args<Op>& a, emit<produces>& e) const {
        moments m = spread(e, a);
        if constexpr (one_of<Op, ops<aten::std_mean_correction, aten::std_mean_dim>>)
            m.variance = e.make<aten::sqrt>(m.variance);
        const value mean = e.make<aten::reshape>({.self = m.mean, .shape = e.result_meta(1).shape});
        return {narrowed(e, m.variance), narrowed(e, mean)};
    }

private:
    struct moments {
        value mean;  ///< with the axes that were reduced
        value variance;
    };
    struct over {
        int_list dim;
        bool keepdim;
    };

    template <class Args>
    static moments spread(emit<produces>& e, const Args& a) {
        const auto axes = reduced_axes(a, e.rank(a.self));
        if (!axes) return {e.fail(axes.error()), {}};
        shape_builder list;
        std::int64_t count = 1;
        for (std::size_t i = 0; i != e.rank(a.self); ++i) {
            if (!axes.value().contains(i)) continue;
            list.push_back(static_cast<std::int64_t>(i));
            count *= e.shape(a.self)[i];
        }
        bool keepdim = false;
        if constexpr (requires { a.keepdim; }) keepdim = a.keepdim;
        const dtype wide = build::summing_type(e.dtype(a.self));
        const value mean = decompose_mean::mean_of(e, a.self, over{int_list(list), true}, wide);
        const value x =
            wide == e.dtype(a.self) ? a.self : e.make<aten::_to_copy>({.self = a.self, .dtype = wide});
        const value off = e.make<aten::sub_tensor>(x, mean);
        const value sum = e.make<aten::sum_dim_intlist>({.self = e.make<aten::mul_tensor>(off, off),
                                                         .dim = int_list(list),
                                                         .keepdim = keepdim,
                                                         .dtype = wide});
        const double freedom = std::max(0.0, static_cast<double>(count) - correction_of(a));
        return {mean, e.make<aten::mul_tensor>(sum, e.splat(1.0 / freedom, wide, e.rank(sum)))};
    }
    template <class Args>
    static double correction_of(const Args& a) {
        if constexpr (requires { a.unbiased; }) {
            return a.unbiased ? 1 : 0;
        } else {
            return a.correction ? a.correction->to_double() : 1;
        }
    }
    static value narrowed(emit<produces>& e, value v) {
        const dtype type = e.result_meta().dtype;
        return e.dtype(v) == type ? v : e.make<aten::_to_copy>({.self = v, .dtype = type});
    }
};

}  // namespace headrace

#endif
