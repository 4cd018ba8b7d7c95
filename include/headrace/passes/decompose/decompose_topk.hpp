// SPDX-License-Identifier: MIT
// Defines headrace::decompose_topk.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_TOPK_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_TOPK_HPP

#include <tuple>

#include <headrace/passes/decompose/joining.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/narrowing.hpp>
#include <headrace/passes/support/slicing.hpp>

namespace headrace {

/// Takes the largest element k times: each time, the element found is replaced by the lowest number of the
/// dtype. If only that number is left, the next position is the first one that has not been taken.
struct decompose_topk : pass {
    using phase = decomposition;
    static constexpr std::string_view summary = "topk as argmax and amax, k times";
    using targeted_ops = ops<aten::topk>;
    using produces = ops<aten::amax, aten::amin, aten::argmax, aten::argmin, aten::cat, aten::eq_tensor,
        aten::reshape, aten::where_self, aten::_to_copy>;

    std::tuple<value, value> operator()(const args<aten::topk>& a, emit<produces>& e) const {
        if (!is_floating(e.dtype(a.self)) && !is_signed_integral(e.dtype(a.self)))
            return {e.unsupported("TOSA does not compare unsigned integers; cast them"), {}};
        if (a.k == 0) return {e.unsupported("none are taken: TOSA has no empty tensors"), {}};
        if (!e.may_unroll(a.k)) return {};
        value rest = a.self;
        if (e.rank(rest) == 0) rest = e.make<aten::reshape>({.self = rest, .shape = int_list{1}});
        const std::size_t axis = build::axis_in(e, a.dim, e.rank(rest));
        if (e.failed()) return {};
        value_list values, positions;
        const dtype type = e.dtype(rest);
        const auto [lowest, highest] = build::bounds_of(narrowed(type));
        const value last = e.splat(a.largest ? lowest : highest, type, 0);
        const value taken = e.splat(a.largest ? 0 : 1, type, 0);
        value ranked = rest, open = e.splat(a.largest ? 1 : 0, type, 0);
        for (std::int64_t i = 0; i != a.k; ++i) {
            const value best = extremum(e, rest, axis, a.largest);
            if (i != 0) {
                // Taken positions hold the lowest number, which differs once the tensor is quantized.
                const value lowest_left = extremum(e, rest, axis, !a.largest);
                ranked = e.make<aten::where_self>(e.make<aten::eq_tensor>(best, lowest_left), open, rest);
            }
            const value found = position(e, ranked, axis, a.largest);
            values.push_back(best);
            positions.push_back(found);
            if (i + 1 == a.k) break;
            const value here = is_at(e, rest, axis, found);
            rest = e.make<aten::where_self>(here, last, rest);
            open = e.make<aten::where_self>(here, taken, open);
        }
        return {reshaped(e, cat(e, values, axis), e.result_meta(0).shape),
            reshaped(e, cat(e, positions, axis), e.result_meta(1).shape)};
    }

private:
    static value extremum(emit<ops<aten::amax, aten::amin>> e, value v, std::size_t axis, bool largest) {
        const int_list axes{static_cast<std::int64_t>(axis)};
        return largest ? e.make<aten::amax>({.self = v, .dim = axes, .keepdim = true})
                       : e.make<aten::amin>({.self = v, .dim = axes, .keepdim = true});
    }
    static value position(emit<ops<aten::argmax, aten::argmin>> e, value v, std::size_t axis, bool largest) {
        const auto dim = static_cast<std::int64_t>(axis);
        return largest ? e.make<aten::argmax>({.self = v, .dim = dim, .keepdim = true})
                       : e.make<aten::argmin>({.self = v, .dim = dim, .keepdim = true});
    }
    // Positions are compared in the tensor's kind of dtype, so that floats do not need integers as well.
    static value is_at(emit<ops<aten::eq_tensor, aten::_to_copy>> e, value v, std::size_t axis, value found) {
        const bool floats = is_floating(e.dtype(v));
        const dtype type = floats ? dtype::float32 : dtype::int64;
        if (floats) found = e.make<aten::_to_copy>({.self = found, .dtype = type});
        shape_builder line = shape_builder::filled(e.rank(v), 1);
        line[axis] = e.shape(v)[axis];
        const value at = e.constant_of(type, line, [&](std::size_t i) {
            return floats ? scalar(static_cast<double>(i)) : scalar(static_cast<std::int64_t>(i));
        });
        return e.make<aten::eq_tensor>(found, at);
    }
};
HEADRACE_COMPILED_PASS(decompose_topk);

}  // namespace headrace

#endif
