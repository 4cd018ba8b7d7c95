// SPDX-License-Identifier: MIT
// Defines headrace::join_patches.
#ifndef HEADRACE_PASSES_NPU_JOIN_PATCHES_HPP
#define HEADRACE_PASSES_NPU_JOIN_PATCHES_HPP

#include <algorithm>
#include <optional>

#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/permuting.hpp>
#include <headrace/target/preferences.hpp>

namespace headrace {

/// Turns the elements of a window into channels, as in the patch embedding of a vision transformer. They are
/// in the order of the weight's elements, so the weight is unchanged.
struct join_patches : pass {
    using phase = tuning;
    static constexpr std::string_view summary =
        "lowers a CONV2D of windows that do not overlap to one with a window of one element";

    using targeted_ops = ops<tosa::conv2d>;
    using produces = joined<build::permute_ops, ops<tosa::conv2d>>;

    [[nodiscard]] bool should_run(const graph& g) const {
        return preferences_of(g.target()).stride != target_preferences::any;
    }

    std::optional<value> operator()(const args<tosa::conv2d>& a, emit<produces>& e) const {
        const shape_builder kernel(e.shape(a.weight));
        const bool is_patchwork = a.stride[0] == kernel[1] && a.stride[1] == kernel[2] &&
            build::all_are(a.pad, 0) && build::all_are(a.dilation, 1);
        if (!is_patchwork || std::max(a.stride[0], a.stride[1]) <= preferences_of(e.target()).stride)
            return std::nullopt;
        const shape_builder result(e.result_meta().shape);
        const std::int64_t rows = result[0] * result[1];
        const std::int64_t taps = kernel[1] * kernel[2] * kernel[3];
        const value lines =
            build::reshape(e, a.input, shape_builder{rows, kernel[1], result[2], kernel[2] * kernel[3]});
        const value patches = build::permute(e, lines, shape_builder{0, 2, 1, 3});
        args<tosa::conv2d> one = a;
        one.input = build::reshape(e, patches, shape_builder{1, 1, rows * result[2], taps});
        one.weight = build::reshape(e, a.weight, shape_builder{kernel[0], 1, 1, taps});
        one.stride = {1, 1};
        return build::reshape(e, e.make<tosa::conv2d>(one), result);
    }
};
HEADRACE_COMPILED_PASS(join_patches);

}  // namespace headrace

#endif
