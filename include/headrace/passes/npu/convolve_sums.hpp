// SPDX-License-Identifier: MIT
// Defines headrace::convolve_sums.
#ifndef HEADRACE_PASSES_NPU_CONVOLVE_SUMS_HPP
#define HEADRACE_PASSES_NPU_CONVOLVE_SUMS_HPP

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/build.hpp>
#include <headrace/passes/support/widening.hpp>
#include <headrace/target/preferences.hpp>

namespace headrace {

/// Computes the sum of an image's pixels by a convolution, as in the mean of each channel. A convolution
/// reads INT8, so the widening before the sum is dropped; Vela fuses the RESCALE and TABLE that follow into
/// it.
struct convolve_sums : pass {
    using phase = tuning;
    static constexpr std::string_view summary =
        "lowers the sum of an image's pixels to a DEPTHWISE_CONV2D with weights of 1";

    using targeted_ops = ops<tosa::reduce_sum>;
    using produces = ops<tosa::depthwise_conv2d>;
    static constexpr bool in_execution_order = true;

    [[nodiscard]] bool should_run(const graph& g) const {
        return preferences_of(g.target()).convolved_sum != 0;
    }

    std::optional<value> operator()(const args<tosa::reduce_sum>& a, emit<produces>& e) const {
        const auto* other = match<tosa::reduce_sum>(a.input);
        if (other == nullptr || !has_one_use(a.input) || a.axis + other->axis != 3 ||
            a.axis * other->axis != 2)
            return std::nullopt;
        const auto* widened = match<tosa::rescale>(other->input);
        if (widened == nullptr || widening_shift(*widened) != 0 || e.dtype(widened->input) != dtype::int8)
            return std::nullopt;
        const shape_builder image(e.shape(widened->input));
        if (image.size() != 4 || std::max(image[1], image[2]) > max_side ||
            image[1] * image[2] > preferences_of(e.target()).convolved_sum) {
            return std::nullopt;
        }
        const std::array kernel{image[1], image[2], image[3], std::int64_t{1}};
        args<tosa::depthwise_conv2d> sum = build::unpadded<tosa::depthwise_conv2d>(
            e, widened->input, e.splat(1, dtype::int8, kernel), e.splat(0, dtype::int32, 1));
        sum.input_zp = widened->input_zp;
        return e.make<tosa::depthwise_conv2d>(sum);
    }

private:
    static constexpr std::int64_t max_side = 64;  // an Ethos-U's limit for windows
};
HEADRACE_COMPILED_PASS(convolve_sums);

}  // namespace headrace

#endif
