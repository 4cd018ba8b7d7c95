// SPDX-License-Identifier: MIT
// Defines headrace::lower_quantized_reductions.
#ifndef HEADRACE_PASSES_QUANTIZE_LOWER_QUANTIZED_REDUCTIONS_HPP
#define HEADRACE_PASSES_QUANTIZE_LOWER_QUANTIZED_REDUCTIONS_HPP

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

#include <headrace/infer/aten/reduction.hpp>
#include <headrace/op/op_query.hpp>
#include <headrace/passes/quantize/fixed_point.hpp>
#include <headrace/passes/support/reducing.hpp>
#include <headrace/passes/support/slicing.hpp>

namespace headrace {

/// sum(dq(x)) = dq(sum(x - zero point)), in INT32, and argmax(dq(x)) = argmax(x).
struct lower_quantized_reductions : pass {
    static constexpr std::string_view summary = "sum(dq(x)) = dq(sum(x)) in INT32; argmax(dq(x)) = argmax(x)";
    using sums = ops<aten::sum, aten::sum_dim_intlist>;
    using positions = ops_where<aten::dialect, trait::reduction, trait::locating>;
    using targeted_ops = joined<sums, positions, ops<aten::cumsum>>;
    using produces = joined<fixed_point_ops, build::reshape_ops, build::slice_ops, build::pad_ops, positions,
        dequantize_ops, ops<tosa::reduce_sum, tosa::add>>;

    template <one_of<sums> Op>
    std::optional<value> operator()(Op, const args<Op>& a, emit<produces> e) const {
        auto x = as_scaled_integers(e, a.self);
        if (!x) return std::nullopt;
        x->integers = build::reduce(e, x->integers, a, [&](value v, std::size_t axis) {
            const auto terms = static_cast<double>(e.shape(v)[axis]);
            v = make_room(e, *x, v, terms);
            x->reach *= terms;
            return build::along<tosa::reduce_sum>(e, v, axis);
        });
        return dequantize(e, *x);
    }

    // By doubling, as in legalize_cumsum.
    std::optional<value> operator()(const args<aten::cumsum>& a, emit<produces> e) const {
        auto x = as_scaled_integers(e, a.self);
        if (!x) return std::nullopt;
        value v = build::with_rank(e, x->integers, std::max<std::size_t>(e.rank(a.self), 1));
        const std::size_t axis = build::axis_in(e, a.dim, e.rank(v));
        if (e.failed()) return value{};
        const std::int64_t size = e.shape(v)[axis];
        for (std::int64_t shift = 1; shift < size; shift *= 2) {
            v = make_room(e, *x, v, 2);
            const value moved = build::pad(e, build::slice(e, v, axis, 0, size - shift), axis, shift, 0);
            v = e.make<tosa::add>(v, moved);
            x->reach *= 2;
        }
        x->integers = build::reshape(e, v, e.result_meta().shape);
        return dequantize(e, *x);
    }

    template <one_of<positions> Op>
    std::optional<value> operator()(Op, const args<Op>& a, emit<produces> e) const {
        const auto x = as_dequantized_per_tensor(e, a.self);
        if (!x) return std::nullopt;
        args<Op> of_integers = a;
        of_integers.self = x->integers;
        return e.make<Op>(of_integers);
    }

private:
    // Rescales a result to a coarser scale if `terms` of its elements could add up to more than 2^30.
    static value make_room(emit<build::saturating_rescale_ops> e, scaled_integers& x, value v, double terms) {
        constexpr double room = 1 << 30;
        double factor = 1;
        while (x.reach * factor * terms > room) factor /= 2;
        if (factor == 1) return v;
        v = build::saturating_rescale(e, v, factor, x.reach, {});
        x.scale /= factor;
        x.reach = std::ceil(x.reach * factor);
        return v;
    }
};

}  // namespace headrace

#endif
