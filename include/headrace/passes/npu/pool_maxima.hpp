// SPDX-License-Identifier: MIT
// Defines headrace::pool_maxima.
#ifndef HEADRACE_PASSES_NPU_POOL_MAXIMA_HPP
#define HEADRACE_PASSES_NPU_POOL_MAXIMA_HPP

#include <optional>

#include <headrace/passes/npu/tuning.hpp>
#include <headrace/passes/support/permuting.hpp>

namespace headrace {

/// As in a softmax. A pooling compares elements of one channel, so the axis becomes the image's height. A
/// tensor of another rank stays, as Vela copies what is reshaped before it is transposed.
struct pool_maxima : pass {
    using phase = tuning;
    static constexpr std::string_view summary = "lowers a REDUCE_MAX of the last axis to a MAX_POOL2D";

    using targeted_ops = ops<tosa::reduce_max>;
    using produces = joined<build::permute_ops, ops<tosa::max_pool2d>>;

    [[nodiscard]] bool should_run(const graph& g) const {
        return preferences_of(g.target()).pooled_maximum != 0;
    }

    std::optional<value> operator()(const args<tosa::reduce_max>& a, emit<produces>& e) const {
        const shape_builder shape(e.shape(a.input));
        if (shape.size() != 4 || a.axis != 3 || e.dtype(a.input) != dtype::int8 ||
            shape[3] > preferences_of(e.target()).pooled_maximum) {
            return std::nullopt;
        }
        const value columns = build::permute(e, a.input, shape_builder{0, 3, 1, 2});
        const value pooled = e.make<tosa::max_pool2d>(
            {.input = columns, .kernel = {shape[3], 1}, .stride = {1, 1}, .pad = {0, 0, 0, 0}});
        return build::reshape(e, pooled, e.result_meta().shape);
    }
};
HEADRACE_COMPILED_PASS(pool_maxima);

}  // namespace headrace

#endif
