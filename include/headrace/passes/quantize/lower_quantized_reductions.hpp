// SPDX-License-Identifier: MIT
// Defines headrace::lower_quantized_reductions.
#ifndef HEADRACE_PASSES_QUANTIZE_LOWER_QUANTIZED_REDUCTIONS_HPP
#define HEADRACE_PASSES_QUANTIZE_LOWER_QUANTIZED_REDUCTIONS_HPP

#include <cmath>

#include <headrace/infer/aten_reduction.hpp>
#include <headrace/passes/quantize/fixed_point.hpp>
#include <headrace/passes/support/reducing.hpp>
#include <headrace/passes/support/slicing.hpp>

namespace headrace {

/// Sums of dequantized operands as sums of their codes, in INT32: sum(dq(x)) = dq(sum(x - zero point)). The
/// position of the largest element is that of the largest code.
struct lower_quantized_reductions : pass {
    using sums = ops<aten::sum, aten::sum_dim_intlist>;
    using positions = ops<aten::argmax, aten::argmin>;
    using targets = joined<sums, positions, ops<aten::cumsum>>;
    using produces = joined<fixed_point_ops, build::slice_ops, build::pad_ops, positions, dequantize_ops,
                            ops<tosa::reduce_sum, tosa::add>>;

    template <one_of<sums> Op>
    std::optional<value> operator()(Op, const args<Op>& a, auto& e) const {
        auto x = integers(e, a.self);
        if (!x) return std::nullopt;
        const value sum = build::reduce(e, x->codes, a, [&](value v, std::size_t axis) {
            const auto terms = static_cast<double>(e.shape(v)[axis]);
            v = x->with_room(e, v, terms);
            x->reach *= terms;
            return e.template make<tosa::reduce_sum>({.input = v, .axis = static_cast<std::int64_t>(axis)});
        });
        return from_scale(e, sum, x->scale, x->reach);
    }

    // By doubling, as legalize_cumsum does it.
    std::optional<value> operator()(const args<aten::cumsum>& a, auto& e) const {
        auto x = integers(e, a.self);
        if (!x) return std::nullopt;
        value v = build::with_rank(e, x->codes, std::max<std::size_t>(e.rank(a.self), 1));
        const std::size_t axis = build::axis_in(e, a.dim, e.rank(v));
        if (e.failed()) return value{};
        const std::int64_t size = e.shape(v)[axis];
        for (std::int64_t shift = 1; shift < size; shift *= 2) {
            v = x->with_room(e, v, 2);
            const value moved = build::pad(e, build::slice(e, v, axis, 0, size - shift), axis, shift, 0);
            v = build::binary<tosa::add>(e, v, moved);
            x->reach *= 2;
        }
        return from_scale(e, build::reshape(e, v, e.result_meta().shape), x->scale, x->reach);
    }

    template <one_of<positions> Op>
    std::optional<value> operator()(Op, const args<Op>& a, auto& e) const {
        const auto x = as_dequantized(e, a.self);
        if (!x || !x->parameters.is_per_tensor()) return std::nullopt;
        args<Op> of_codes = a;
        of_codes.self = x->codes;
        return e.template make<Op>(of_codes);
    }

private:
    struct operand {
        value codes;
        double scale;
        double reach;

        // The codes of a step between, coarser where so many of them could add up to 2^30 and more.
        template <class E>
        value with_room(E& e, value v, double terms) {
            constexpr double room = 1 << 30;
            double factor = 1;
            while (reach * factor * terms > room) factor /= 2;
            if (factor == 1) return v;
            v = build::rescale(e, v, factor, {.reach = reach});
            scale /= factor;
            reach = std::ceil(reach * factor);
            return v;
        }
    };
    template <class E>
    static std::optional<operand> integers(E& e, value v) {
        const auto x = as_fixed_point(e, v);
        if (!x || !x->read) return std::nullopt;
        const double scale = x->read->parameters.scale();
        return operand{at_scale(e, *x, scale), scale, x->reach() / scale};
    }
};

}  // namespace headrace

#endif
