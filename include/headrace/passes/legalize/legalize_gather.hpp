// SPDX-License-Identifier: MIT
// Defines headrace::legalize_gather.
#ifndef HEADRACE_PASSES_LEGALIZE_LEGALIZE_GATHER_HPP
#define HEADRACE_PASSES_LEGALIZE_LEGALIZE_GATHER_HPP

#include <algorithm>

#include <headrace/dialect/aten.hpp>
#include <headrace/passes/legalize/indexing.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// Lowers ops that select rows or elements by index to GATHER (TOSA 1.0, 2.10.1). Whole rows are [N, K, C],
/// where N and C are the axes before and after the indexed one; torch.gather selects single elements, at
/// computed positions.
struct legalize_gather : pass {
    using phase = legalization;
    static constexpr std::string_view summary = "index_select, embedding and gather to GATHER";

    static auto rewrites() {
        return rules(on<aten::index_select> = code<selected>(), on<aten::embedding> = code<embedded>(),
            on<aten::gather> = code<gathered>());
    }

private:
    using made = joined<build::gather_ops, build::position_ops>;
    static value selected(emit<made> e, const args<aten::index_select>& a) {
        const value self = build::at_least_1d(e, a.self);
        return rows(e, self, build::axis_in(e, a.dim, e.rank(self)), a.index);
    }
    static value embedded(emit<made> e, const args<aten::embedding>& a) {
        return rows(e, a.weight, 0, a.indices);
    }
    static value gathered(emit<made> e, const args<aten::gather>& a) {
        const value self = build::at_least_1d(e, a.self);
        const std::size_t axis = build::axis_in(e, a.dim, e.rank(self));
        if (refuse_empty(e)) return {};
        const auto at = build::positions_along(e, a.index, e.shape(self), axis);
        const value elements = build::reshape(e, self, shape_builder{at.batches, at.batch_size, 1});
        return build::reshape(e, build::gather(e, elements, at.indices), e.result_meta().shape);
    }
    static value rows(emit<made> e, value v, std::size_t axis, value index) {
        if (refuse_empty(e)) return {};
        const build::three_axes k = build::around(e.shape(v), axis);
        index = build::index_number(e, index);
        index = build::reshape(e, index, shape_builder{1, e.meta(index).elements()});
        const value found =
            build::gather(e, build::reshape(e, v, shape_builder{k.before, k.size, k.after}), index);
        return build::reshape(e, found, e.result_meta().shape);
    }
    // Refuses results without elements; returns true if the rewrite has failed, now or before.
    static bool refuse_empty(emitter& e) {
        if (e.result_meta().elements() == 0)
            e.unsupported("it takes no elements: TOSA has no empty tensors; drop it from the model");
        return e.failed();
    }
};
HEADRACE_COMPILED_PASS(legalize_gather);

}  // namespace headrace

#endif
