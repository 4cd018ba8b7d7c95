// SPDX-License-Identifier: MIT
// Defines headrace::legalize_expand.
#ifndef HEADRACE_PASSES_LEGALIZE_LEGALIZE_EXPAND_HPP
#define HEADRACE_PASSES_LEGALIZE_LEGALIZE_EXPAND_HPP

#include <algorithm>

#include <headrace/dialect/aten.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/build.hpp>

namespace headrace {

/// Lowers the ops that repeat a tensor to TILE (TOSA 1.0, 2.9.7), after leading axes of size 1: expanded axes
/// are those of size 1 whose size changes, and repeats count whole copies.
struct legalize_expand : pass {
    using phase = legalization;
    using targets = ops<aten::expand, aten::broadcast_to, aten::expand_as, aten::repeat, aten::tile>;
    using produces = build::broadcast_ops;

    template <one_of<ops<aten::expand, aten::broadcast_to, aten::expand_as>> Op>
    value operator()(Op, const args<Op>& a, emit<produces>& e) const {
        return build::broadcast(e, a.self, e.result_meta().shape);
    }
    value operator()(const args<aten::repeat>& a, emit<produces>& e) const {
        return tiled(e, a.self, a.repeats);
    }
    value operator()(const args<aten::tile>& a, emit<produces>& e) const { return tiled(e, a.self, a.dims); }

private:
    static value tiled(emit<produces>& e, value v, sizes repeats) {
        const std::size_t rank = std::max(repeats.size(), e.rank(v));
        shape_builder multiples = shape_builder::filled(rank - repeats.size(), 1);
        multiples.append(repeats);
        v = build::with_rank(e, v, rank);
        if (std::ranges::count(multiples, 1) == static_cast<std::ptrdiff_t>(rank)) return v;
        return e.make<tosa::tile>({.input1 = v, .multiples = build::const_shape(e, multiples)});
    }
};

}  // namespace headrace

#endif
