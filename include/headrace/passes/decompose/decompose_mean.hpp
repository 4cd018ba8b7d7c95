// SPDX-License-Identifier: MIT
// Defines headrace::decompose_mean.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_MEAN_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_MEAN_HPP

#include <headrace/dialect/aten.hpp>
#include <headrace/infer/aten.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/reducing.hpp>

namespace headrace {

/// mean(x) = sum(x) * (1 / N), N the number of elements that are averaged; halves are averaged in FP32.
/// nansum is the sum with 0 in place of each NaN.
struct decompose_mean : pass {
    using phase = decomposition;
    using targets = ops<aten::mean, aten::mean_dim, aten::nansum>;
    using produces =
        ops<aten::sum_dim_intlist, aten::mul_tensor, aten::_to_copy, aten::eq_tensor, aten::where_self>;

    value operator()(const args<aten::nansum>& a, emit<produces>& e) const {
        value v = a.self;
        if (is_floating(e.dtype(v))) {
            v = e.make<aten::where_self>(e.make<aten::eq_tensor>(v, v), v,
                                         e.splat(0.0, e.dtype(v), e.rank(v)));
        }
        return e.make<aten::sum_dim_intlist>(
            {.self = v, .dim = a.dim, .keepdim = a.keepdim, .dtype = e.result_meta().dtype});
    }
    template <one_of<ops<aten::mean, aten::mean_dim>> Op>
    value operator()(Op, const args<Op>& a, emit<produces>& e) const {
        return mean_of(e, a.self, a, e.result_meta().dtype);
    }

    /// Also for passes that need a mean on the way.
    template <class E, class Args>
    static value mean_of(E& e, value v, const Args& a, dtype type) {
        const auto axes = reduced_axes(a, e.rank(v));
        if (!axes) return e.fail(axes.error());
        shape_builder list;
        std::int64_t count = 1;
        for (std::size_t i = 0; i != e.rank(v); ++i) {
            if (!axes.value().contains(i)) continue;
            list.push_back(static_cast<std::int64_t>(i));
            count *= e.shape(v)[i];
        }
        bool keepdim = false;
        if constexpr (requires { a.keepdim; }) keepdim = a.keepdim;
        const dtype wide = build::summing_type(type);
        const value sum = e.template make<aten::sum_dim_intlist>(
            {.self = v, .dim = int_list(list), .keepdim = keepdim, .dtype = wide});
        const value mean = count == 1
                               ? sum
                               : e.template make<aten::mul_tensor>(
                                     sum, e.splat(1.0 / static_cast<double>(count), wide, e.rank(sum)));
        return wide == type ? mean : e.template make<aten::_to_copy>({.self = mean, .dtype = type});
    }
};

}  // namespace headrace

#endif
