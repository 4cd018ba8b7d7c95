// SPDX-License-Identifier: MIT
// Defines headrace::pair_columns.
#ifndef HEADRACE_PASSES_NPU_PAIR_COLUMNS_HPP
#define HEADRACE_PASSES_NPU_PAIR_COLUMNS_HPP

#include <optional>

#include <headrace/passes/npu/image_cost.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/build.hpp>
#include <headrace/passes/support/constants.hpp>
#include <headrace/target/preferences.hpp>

namespace headrace {

/// Reads pairs of columns as one column with the channels of both, as for the first layer of an image
/// network. This fills more of the multiplier lanes; surplus taps of the pairs are zero.
struct pair_columns : pass {
    using phase = tuning;
    static constexpr std::string_view summary =
        "lets a CONV2D of stride 2 with few channels read pairs of columns as one";

    using targeted_ops = ops<tosa::conv2d>;
    using produces = joined<build::reshape_ops, ops<tosa::conv2d>>;

    [[nodiscard]] bool should_run(const graph& g) const {
        return preferences_of(g.target()).paired_channels != 0;
    }

    std::optional<value> operator()(const args<tosa::conv2d>& a, emit<produces>& e) const {
        const shape_builder image(e.shape(a.input));
        const shape_builder kernel(e.shape(a.weight));
        const auto zero = constant_integer(a.weight_zp);
        if (a.stride[1] != 2 || a.dilation[1] != 1 || image[2] % 2 != 0 || kernel[2] == 1 || !zero ||
            image[3] > preferences_of(e.target()).paired_channels || e.dtype(a.weight) != dtype::int8) {
            return std::nullopt;
        }
        const target_preferences& target = preferences_of(e.target());
        const shape_builder fewer = paired_kernel(kernel, a.pad[2]);
        if (convolution_steps(target, fewer) >= convolution_steps(target, kernel) ||
            (target.pairs_on_chip_alone && is_given(a.input))) {
            return std::nullopt;
        }
        const auto weight = constant_integers(a.weight);
        if (!weight) return std::nullopt;
        // With odd padding before it, the first window begins in the middle of a pair.
        const std::int64_t skipped = a.pad[2] % 2;
        const std::int64_t taps = fewer[2];
        const std::int64_t before = (a.pad[2] + skipped) / 2;
        const std::int64_t after = e.result_meta().shape[2] - 1 + taps - before - image[2] / 2;
        args<tosa::conv2d> paired = a;
        paired.input =
            build::reshape(e, a.input, shape_builder{image[0], image[1], image[2] / 2, 2 * image[3]});
        paired.weight = build::constant_at(e, dtype::int8, fewer, [&](const shape_builder& at) {
            const std::int64_t column = 2 * at[2] + at[3] / kernel[3] - skipped;
            if (column < 0 || column >= kernel[2]) return *zero;
            return (*weight)[build::element_index(kernel, {at[0], at[1], column, at[3] % kernel[3]})];
        });
        paired.pad = {a.pad[0], a.pad[1], before, after};
        paired.stride = {a.stride[0], 1};
        return e.make<tosa::conv2d>(paired);
    }

private:
    static bool is_given(value v) {
        while (const auto* reshaped = match<tosa::reshape>(v)) v = reshaped->input1;
        return is<builtin::placeholder>(*v.producer);
    }
};
HEADRACE_COMPILED_PASS(pair_columns);

}  // namespace headrace

#endif
