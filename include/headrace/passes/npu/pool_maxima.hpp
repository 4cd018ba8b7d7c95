// SPDX-License-Identifier: MIT
// Defines headrace::pool_maxima.
#ifndef HEADRACE_PASSES_NPU_POOL_MAXIMA_HPP
#define HEADRACE_PASSES_NPU_POOL_MAXIMA_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/permuting.hpp>
#include <headrace/target/preferences.hpp>

namespace headrace {

/// Lowers the maximum over the last axis to pooling, as in a softmax. Pooling compares elements of one
/// channel, so the axis becomes the image's height. All other axes except the one before it are merged: Vela
/// transposes each image of a batch separately. A single row is left unchanged.
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
        const std::size_t last = shape.size() - 1;
        if (shape.size() < 2 || a.axis != static_cast<std::int64_t>(last) ||
            e.dtype(a.input) != dtype::int8 || shape[last] > preferences_of(e.target()).pooled_maximum) {
            return std::nullopt;
        }
        const std::int64_t width = shape[last - 1];
        const std::int64_t height = element_count(sizes(shape).first(last - 1));
        if (height * width == 1 || std::max(height, width) > max_extent) return std::nullopt;
        const value rows = build::reshape(e, a.input, shape_builder{1, height, width, shape[last]});
        const value columns = build::permute(e, rows, shape_builder{0, 3, 1, 2});
        const value pooled = e.make<tosa::max_pool2d>(
            {.input = columns, .kernel = {shape[last], 1}, .stride = {1, 1}, .pad = {0, 0, 0, 0}});
        return build::reshape(e, pooled, e.result_meta().shape);
    }

private:
    static constexpr std::int64_t max_extent = 65536;  // an Ethos-U's limit for an axis
};
HEADRACE_COMPILED_PASS(pool_maxima);

}  // namespace headrace

#endif
