// SPDX-License-Identifier: MIT
// Defines headrace::decompose_cumprod.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_CUMPROD_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_CUMPROD_HPP

#include <vector>

#include <headrace/passes/decompose/joining.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/slicing.hpp>

namespace headrace {

/// By doubling, as legalize_cumsum does for sums: for s = 1, 2, 4, …, x[i] *= x[i - s]. Ones are shifted in.
struct decompose_cumprod : pass {
    using phase = decomposition;
    static constexpr std::string_view summary = "cumprod as a logarithmic number of shifted products";
    using targeted_ops = ops<aten::cumprod>;
    using produces =
        ops<aten::constant_pad_nd, aten::mul_tensor, aten::narrow, aten::reshape, aten::_to_copy>;

    value operator()(const args<aten::cumprod>& a, emit<produces>& e) const {
        value v = cast(e, a.self, e.result_meta().dtype);
        const std::size_t rank = e.rank(v);
        if (rank == 0) return e.make<aten::reshape>({.self = v, .shape = e.result_meta().shape});
        const std::size_t axis = build::axis_in(e, a.dim, rank);
        if (e.failed()) return {};
        const std::int64_t size = e.shape(v)[axis];
        for (std::int64_t shift = 1; shift < size; shift *= 2) {
            // Pairs of element counts, before and after, with the last axis first.
            std::vector<std::int64_t> padding(2 * (rank - axis), 0);
            padding[padding.size() - 2] = shift;
            const value moved = e.make<aten::constant_pad_nd>(
                {.self = narrow(e, v, axis, 0, size - shift), .pad = int_list(padding), .value = 1});
            v = e.make<aten::mul_tensor>(v, moved);
        }
        return v;
    }
};
HEADRACE_COMPILED_PASS(decompose_cumprod);

}  // namespace headrace

#endif
