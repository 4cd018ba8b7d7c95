// SPDX-License-Identifier: MIT
// Defines headrace::canonicalize_casts.
#ifndef HEADRACE_PASSES_NORMALIZE_CANONICALIZE_CASTS_HPP
#define HEADRACE_PASSES_NORMALIZE_CANONICALIZE_CASTS_HPP

#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/dim_order_ops.hpp>
#include <headrace/infer/aten.hpp>
#include <headrace/infer/dim_order_ops.hpp>
#include <headrace/op/op_query.hpp>
#include <headrace/pass/arithmetic.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// Rewrites every kind of cast to aten._to_copy with only a dtype: devices, memory formats and orders of
/// dimensions do not change values. copy(self, src) is src, in the dtype and shape of self. The dtype
/// argument of a reduction becomes a cast of its operand. If the target has no floats, booleans are cast to
/// floats as the integers 0 and 1, which can be quantized.
struct canonicalize_casts : pass {
    using runs_after = pass_list<canonical_variants>;
    using ensures = pass_list<canonical_casts>;
    static constexpr std::string_view summary = "writes every cast as _to_copy with a dtype alone";
    using casts = joined<ops_where<aten::dialect, trait::casting>, ops<dim_order_ops::_to_dim_order_copy>>;
    using reductions = ops<aten::sum, aten::sum_dim_intlist, aten::prod, aten::prod_dim_int, aten::cumsum>;
    using targeted_ops = reductions;
    using produces = joined<reductions, ops<aten::_to_copy>>;

    static auto rewrites() {
        return rules(
            on_each<casts> =
                [](auto x, const auto&...) {
                    const dtype type = x.result_meta().dtype;
                    const bool through_integers = is_boolean(x.dtype()) && is_floating(type) &&
                        !x.target().has(target_feature::profile_fp);
                    const auto number = [&] { return call<aten::_to_copy>(x, dtype::int8); };
                    return call<aten::_to_copy>(choose(through_integers, number, x), type);
                },
            on<aten::copy> =
                [](auto self, auto source) {
                    const auto x = as(source, self.dtype());
                    return choose(
                        x.shape() == self.shape(), x, [&] { return call<aten::expand>(x, self.shape()); });
                });
    }

    template <one_of<reductions> Op>
    std::optional<value> operator()(Op, const args<Op>& a, emit<produces>& e) const {
        if (!a.dtype || *a.dtype == e.dtype(a.self)) return std::nullopt;
        args<Op> same = a;
        same.self = e.make<aten::_to_copy>({.self = a.self, .dtype = a.dtype});
        return e.make<Op>(same);
    }
};
HEADRACE_COMPILED_PASS(canonicalize_casts);

}  // namespace headrace

#endif
