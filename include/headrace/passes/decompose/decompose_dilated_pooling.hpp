// SPDX-License-Identifier: MIT
// Defines headrace::decompose_dilated_pooling.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_DILATED_POOLING_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_DILATED_POOLING_HPP

#include <algorithm>
#include <limits>

#include <headrace/dialect/aten.hpp>
#include <headrace/infer/aten.hpp>
#include <headrace/infer/window.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/build.hpp>
#include <headrace/passes/support/narrowing.hpp>

namespace headrace {

/// TOSA's MAX_POOL2D has no dilation and does not take INT32 (TOSA 1.0, 2.2.8). Rows and columns are pooled
/// one after the other.
struct decompose_dilated_pooling : pass {
    using phase = decomposition;
    using runs_after = pass_list<canonical_pooling>;
    static constexpr std::string_view summary =
        "max over a dilated window, or of int32, as max of its taps, slices of the input";

    using targeted_ops = ops<aten::max_pool2d>;
    using produces = ops<aten::slice_tensor, aten::maximum, aten::constant_pad_nd>;

    std::optional<value> operator()(const args<aten::max_pool2d>& a, emit<produces>& e) const {
        auto windows = windows_of({a.kernel_size, a.stride, a.padding, a.dilation}, 2);
        if (!windows) return e.fail(std::move(windows).error());
        const auto& w = windows.value();
        const bool dilated = w[0].dilation != 1 || w[1].dilation != 1;
        if (!dilated && narrowed(e.dtype(a.self)) != dtype::int32) return std::nullopt;
        const int_list& in = e.shape(a.self);
        const int_list& out = e.result_meta().shape;
        const auto after = [&](std::size_t i) {  // elements that the last window needs past the axis
            const std::int64_t end = (out[2 + i] - 1) * w[i].stride + w[i].extent();
            return std::max<std::int64_t>(end - in[2 + i] - w[i].before, 0);
        };
        const value padded = e.make<aten::constant_pad_nd>({.self = a.self,
            .pad = {w[1].before, after(1), w[0].before, after(0)},
            .value = lowest(e.dtype(a.self))});
        return along(e, along(e, padded, 2, w[0], out[2]), 3, w[1], out[3]);
    }

private:
    static scalar lowest(dtype t) {
        if (is_floating(t)) return -std::numeric_limits<double>::infinity();
        return build::bounds_of(narrowed(t)).first;
    }
    static value along(emit<ops<aten::slice_tensor, aten::maximum>> e, value v, std::int64_t axis,
        const window& w, std::int64_t positions) {
        value highest;
        for (std::int64_t tap = 0; e.may_unroll(w.kernel) && tap != w.kernel; ++tap) {
            const std::int64_t begin = tap * w.dilation;
            const std::int64_t end = begin + (positions - 1) * w.stride + 1;
            const value taken = e.make<aten::slice_tensor>(
                {.self = v, .dim = axis, .start = begin, .end = end, .step = w.stride});
            highest = tap == 0 ? taken : e.make<aten::maximum>(highest, taken);
        }
        return highest;
    }
};
HEADRACE_COMPILED_PASS(decompose_dilated_pooling);

}  // namespace headrace

#endif
