// SPDX-License-Identifier: MIT
// Defines headrace::legalize_sums.
#ifndef HEADRACE_PASSES_LEGALIZE_LEGALIZE_SUMS_HPP
#define HEADRACE_PASSES_LEGALIZE_LEGALIZE_SUMS_HPP

#include <headrace/dialect/aten.hpp>
#include <headrace/passes/legalize/promoting.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/reducing.hpp>

namespace headrace {

/// Lowers sums to REDUCE_SUM, one axis at a time (TOSA 1.0, 2.8.6). Half-precision floats are summed in FP32
/// and narrow integers in INT32, as in PyTorch.
struct legalize_sums : pass {
    using phase = legalization;
    static constexpr std::string_view summary = "sum to REDUCE_SUM";
    using targeted_ops = ops<aten::sum, aten::sum_dim_intlist>;
    using produces = joined<build::widen_ops, build::reshape_ops, ops<tosa::reduce_sum>>;

    template <one_of<targeted_ops> Op>
    value operator()(Op, const args<Op>& a, emit<produces>& e) const {
        const dtype type = narrowed(e.result_meta().dtype);
        const value wide = build::widen(e, build::widen(e, a.self, type), build::summing_type(type));
        const value sum = build::reduce(e, wide, a,
            [&](value v, std::size_t axis) { return build::along<tosa::reduce_sum>(e, v, axis); });
        return build::cast_directly(e, sum, type);
    }
};
HEADRACE_COMPILED_PASS(legalize_sums);

}  // namespace headrace

#endif
