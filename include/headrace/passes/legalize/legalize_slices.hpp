// SPDX-License-Identifier: MIT
// Defines headrace::legalize_slices.
#ifndef HEADRACE_PASSES_LEGALIZE_LEGALIZE_SLICES_HPP
#define HEADRACE_PASSES_LEGALIZE_LEGALIZE_SLICES_HPP

#include <headrace/dialect/aten.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/slicing.hpp>

namespace headrace {

/// Lowers the ops that take a part of an axis to SLICE (TOSA 1.0, 2.9.6). Steps become a reshape to [n,
/// step], of which one column is kept.
struct legalize_slices : pass {
    using phase = legalization;
    using targets = ops<aten::slice_tensor, aten::narrow, aten::select_int>;
    using produces = build::strided_slice_ops;

    value operator()(const args<aten::slice_tensor>& a, emit<produces>& e) const {
        const std::size_t axis = build::axis_in(e, a.dim, e.rank(a.self));
        if (e.failed() || refuse_empty(e)) return {};
        const slice_range range = clamped_slice(a.start, a.end, e.shape(a.self)[axis]);
        return build::strided_slice(e, a.self, axis, range.start, range.count(a.step), a.step);
    }
    value operator()(const args<aten::narrow>& a, emit<produces>& e) const {
        const std::size_t axis = build::axis_in(e, a.dim, e.rank(a.self));
        if (e.failed() || refuse_empty(e)) return {};
        const std::int64_t start = a.start < 0 ? a.start + e.shape(a.self)[axis] : a.start;
        return build::slice(e, a.self, axis, start, a.length);
    }
    value operator()(const args<aten::select_int>& a, emit<produces>& e) const {
        const std::size_t axis = build::axis_in(e, a.dim, e.rank(a.self));
        if (e.failed() || refuse_empty(e)) return {};
        const std::int64_t index = a.index < 0 ? a.index + e.shape(a.self)[axis] : a.index;
        return build::reshape(e, build::slice(e, a.self, axis, index, 1), e.result_meta().shape);
    }

private:
    static bool refuse_empty(emit<produces>& e) {
        if (e.result_meta().elements() != 0) return false;
        e.unsupported("a slice without elements: TOSA has no empty tensors; drop it from the model");
        return true;
    }
};

}  // namespace headrace

#endif
