// SPDX-License-Identifier: MIT
// Defines the shape and dtype rules of TOSA's conversions, control flow, variables and shapes (TOSA 1.0,
// sections 2.12 to 2.17). CONST and CUSTOM have none: only their metadata states their results.
#ifndef HEADRACE_INFER_TOSA_DATA_HPP
#define HEADRACE_INFER_TOSA_DATA_HPP

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <headrace/base/text.hpp>
#include <headrace/dialect/tosa.hpp>
#include <headrace/infer/inference.hpp>
#include <headrace/infer/shape_builder.hpp>
#include <headrace/infer/tosa/requirements.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace {

/// CAST (2.12.1).
inline result<void> infer_results(tosa::cast, const args<tosa::cast>& a, inference& out) {
    if (a.output_type == dtype::unknown) return tosa_rules::refuse("cast", "has no output_type");
    return add_result(out, a.output_type, inference::of(a.input).shape);
}
/// RESCALE (2.12.2): the result's type is that of output_zp.
inline result<void> infer_results(tosa::rescale, const args<tosa::rescale>& a, inference& out) {
    constexpr std::string_view op = "rescale";
    const tensor_meta& input = inference::of(a.input);
    HEADRACE_TRY(tosa_rules::require_single(op, "input_zp", a.input_zp));
    HEADRACE_TRY(tosa_rules::require_single(op, "output_zp", a.output_zp));
    if (a.per_channel && input.rank() == 0) return tosa_rules::refuse(op, "a scalar has no channels");
    const std::int64_t scales = a.per_channel ? input.shape.back() : 1;
    for (const value v : {a.multiplier, a.shift}) {
        const int_list& shape = inference::of(v).shape;
        if (shape.size() != 1 || shape[0] != scales) {
            return tosa_rules::refuse(
                op, {"multiplier and shift must have shape [", scales, "], not ", shape_text(shape)});
        }
    }
    if (inference::of(a.multiplier).dtype != (a.scale32 ? dtype::int32 : dtype::int16)) {
        return tosa_rules::refuse(op, "multiplier must be int32 with scale32, and int16 without it");
    }
    if (a.scale32 && input.dtype == dtype::int48)
        return tosa_rules::refuse(op, "int48 does not go with scale32");
    if (!a.scale32 && a.rounding_mode == rounding_mode::double_round) {
        return tosa_rules::refuse(op, "double_round goes with scale32 only");
    }
    if (a.input_unsigned && a.output_unsigned) {
        return tosa_rules::refuse(op, "input and output cannot both be unsigned");
    }
    return add_result(out, inference::of(a.output_zp).dtype, input);
}

/// COND_IF (2.15.1): both branches have the same results.
inline result<void> infer_results(tosa::cond_if, const args<tosa::cond_if>& a, inference& out) {
    if (a.then_graph == nullptr || a.else_graph == nullptr)
        return tosa_rules::refuse("cond_if", "a branch is missing");
    if (element_count(inference::of(a.condition).shape) != 1) {
        return tosa_rules::refuse("cond_if", "the condition has more than one element");
    }
    const list<value> then_values = a.then_graph->outputs();
    const list<value> else_values = a.else_graph->outputs();
    bool same = then_values.size() == else_values.size();
    for (std::size_t i = 0; same && i != then_values.size(); ++i) {
        const tensor_meta* meta = meta_of(then_values[i]);
        const tensor_meta* other = meta_of(else_values[i]);
        if (meta == nullptr || other == nullptr)
            return tosa_rules::refuse("cond_if", "a branch lacks metadata");
        same = *meta == *other;
        if (same) {
            HEADRACE_TRY(add_result(out, *meta));
        }
    }
    if (!same) return tosa_rules::refuse("cond_if", "the branches give different types or shapes");
    return {};
}
/// WHILE_LOOP (2.15.2): carried values keep type and shape.
inline result<void> infer_results(tosa::while_loop, const args<tosa::while_loop>& a, inference& out) {
    for (const value v : a.inputs) {
        HEADRACE_TRY(add_result(out, inference::of(v)));
    }
    return {};
}

/// VARIABLE and VARIABLE_WRITE have no results (2.16).
inline result<void> infer_results(tosa::variable, const args<tosa::variable>&, inference&) { return {}; }
inline result<void> infer_results(tosa::variable_write, const args<tosa::variable_write>&, inference&) {
    return {};
}
inline result<void> infer_results(tosa::variable_read, const args<tosa::variable_read>& a, inference& out) {
    return add_result(out, a.output_type, a.shape);
}
/// CONST_SHAPE (2.17.1).
inline result<void> infer_results(tosa::const_shape, const args<tosa::const_shape>& a, inference& out) {
    out.add(dtype::shape, {static_cast<std::int64_t>(a.values.size())});
    return {};
}

}  // namespace headrace

#endif
