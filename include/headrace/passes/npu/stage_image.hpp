// SPDX-License-Identifier: MIT
// Defines headrace::stage_image.
#ifndef HEADRACE_PASSES_NPU_STAGE_IMAGE_HPP
#define HEADRACE_PASSES_NPU_STAGE_IMAGE_HPP

#include <optional>

#include <headrace/passes/npu/halve_windows.hpp>
#include <headrace/passes/npu/image_cost.hpp>
#include <headrace/passes/npu/image_on_chip.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/target/preferences.hpp>

namespace headrace {

struct pair_columns;
/// Copies an image to the chip, as for the first layer of an image network that takes NHWC, on an Ethos-U85:
/// from slow memory, a convolution reads few bytes per burst, and some of them for several windows.
struct stage_image : pass {
    using phase = tuning;
    using runs_after = pass_list<tosa_only, layouts_chosen, halve_windows>;
    using runs_before = pass_list<pair_columns>;
    static constexpr std::string_view summary =
        "copies an image with few channels to the chip where a CONV2D then reads it faster";

    using targeted_ops = ops<tosa::conv2d>;
    using produces = joined<build::reshape_ops, build::slice_ops, ops<tosa::max_pool2d, tosa::conv2d>>;

    [[nodiscard]] bool should_run(const graph& g) const {
        return preferences_of(g.target()).on_chip_bytes != 0;
    }

    std::optional<value> operator()(const args<tosa::conv2d>& a, emit<produces>& e) const {
        const shape_builder image(e.shape(a.input));
        const auto* part = match<tosa::slice>(a.input);
        const value given = part == nullptr ? a.input : part->input1;
        if (!is<builtin::placeholder>(*given.producer) || e.rank(given) != 4 || image[0] != 1 ||
            e.dtype(a.input) != dtype::int8) {
            return std::nullopt;
        }
        const image_cost cost(e.target(), image, e.shape(a.weight), e.result_meta().shape, a);
        const auto staged = cost.gains_by_copy() ? image_on_chip(e, a.input) : std::nullopt;
        if (!staged) return std::nullopt;
        args<tosa::conv2d> same = a;
        same.input = *staged;
        return e.make<tosa::conv2d>(same);
    }
};
HEADRACE_COMPILED_PASS(stage_image);

}  // namespace headrace

#endif
