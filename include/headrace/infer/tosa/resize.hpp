// SPDX-License-Identifier: MIT
// Defines the shape rule of RESIZE (TOSA 1.0, section 2.11).
#ifndef HEADRACE_INFER_TOSA_RESIZE_HPP
#define HEADRACE_INFER_TOSA_RESIZE_HPP

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <headrace/base/text.hpp>
#include <headrace/dialect/tosa.hpp>
#include <headrace/infer/inference.hpp>
#include <headrace/infer/shape_builder.hpp>
#include <headrace/infer/tosa/requirements.hpp>

namespace headrace {

namespace tosa_rules {

/// One axis of RESIZE: the scale is a fraction; offset and border are in units of its numerator.
struct resize_axis {
    std::int64_t numerator;
    std::int64_t denominator;
    std::int64_t offset;
    std::int64_t border;
};
[[nodiscard]] inline result<std::int64_t> resized(
    std::string_view axis, std::int64_t size, const resize_axis& r) {
    const auto wrong = [&](std::string_view what) { return refuse("resize", {axis, ": ", what}); };
    if (r.numerator <= 0 || r.denominator <= 0) return wrong("its scale is not positive");
    if (r.numerator > 2048) return wrong("the scale's numerator is above 2048");
    if (r.denominator >= 16 * r.numerator) return wrong("it would shrink by 16 or more");
    if (r.offset < -r.numerator || r.offset >= 16 * r.numerator) return wrong("the offset is out of range");
    if (r.border < -16 * r.numerator || r.border >= r.numerator) return wrong("the border is out of range");
    if (size >= 16384) return wrong("its size is not below 16384");
    const std::int64_t room = (size - 1) * r.numerator - r.offset + r.border;
    HEADRACE_TRY(given,
        exact_positions("resize", room, r.denominator,
            text_of({"(", axis, " ", size, " - 1) * ", r.numerator, " - offset ", r.offset, " + border ",
                r.border})));
    if (given >= 16384) return wrong("the result's size is not below 16384");
    return given;
}

}  // namespace tosa_rules

/// RESIZE (2.11.1).
inline result<void> infer_results(tosa::resize, const args<tosa::resize>& a, inference& out) {
    HEADRACE_TRY(tosa_rules::require_rank_of("resize", "input", a.input, 4));
    HEADRACE_TRY(scale, tosa_rules::shape_operand("resize", "scale", a.scale));
    HEADRACE_TRY(offset, tosa_rules::shape_operand("resize", "offset", a.offset));
    HEADRACE_TRY(border, tosa_rules::shape_operand("resize", "border", a.border));
    HEADRACE_TRY(tosa_rules::require_items("resize", "scale", *scale, 4, 1));
    HEADRACE_TRY(tosa_rules::require_items("resize", "offset", *offset, 2, INT64_MIN));
    HEADRACE_TRY(tosa_rules::require_items("resize", "border", *border, 2, INT64_MIN));
    const tensor_meta& input = inference::of(a.input);
    shape_builder shape{input.shape[0]};
    for (std::size_t i = 0; i != 2; ++i) {
        HEADRACE_TRY(size,
            tosa_rules::resized(tosa_rules::axis_names[1 + i], input.shape[1 + i],
                {(*scale)[2 * i], (*scale)[2 * i + 1], (*offset)[i], (*border)[i]}));
        shape.push_back(size);
    }
    shape.push_back(input.shape[3]);
    dtype type = input.dtype;
    if (a.mode == resize_mode::bilinear && type == dtype::int8) type = dtype::int32;
    if (a.mode == resize_mode::bilinear && type == dtype::int16) type = dtype::int48;
    return add_result(out, type, shape);
}

}  // namespace headrace

#endif
