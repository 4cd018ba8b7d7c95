// SPDX-License-Identifier: MIT
// Defines the shape rules of the ops of TOSA that move elements (TOSA 1.0, sections 2.9 and 2.10).
#ifndef HEADRACE_INFER_TOSA_LAYOUT_HPP
#define HEADRACE_INFER_TOSA_LAYOUT_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <headrace/base/text.hpp>
#include <headrace/dialect/tosa.hpp>
#include <headrace/infer/inference.hpp>
#include <headrace/infer/shape_builder.hpp>
#include <headrace/infer/tosa/requirements.hpp>

namespace headrace {

/// CONCAT (2.9.1).
inline result<void> infer_results(tosa::concat, const args<tosa::concat>& a, inference& out) {
    if (a.input1.empty()) return tosa_rules::refuse("concat", "has no operands");
    const tensor_meta& first = inference::of(a.input1[0]);
    HEADRACE_TRY(axis, tosa_rules::axis_in("concat", a.axis, a.input1[0]));
    shape_builder shape(first.shape);
    shape[axis] = 0;
    for (const value v : a.input1) {
        const tensor_meta& part = inference::of(v);
        bool fits = part.dtype == first.dtype && part.rank() == first.rank();
        for (std::size_t i = 0; fits && i != part.rank(); ++i)
            fits = i == axis || part.shape[i] == first.shape[i];
        if (!fits) {
            return tosa_rules::refuse("concat",
                {shape_text(part.shape), " of ", name_of(part.dtype), " does not fit ",
                    shape_text(first.shape), " of ", name_of(first.dtype), " on axis ", axis});
        }
        shape[axis] = saturating_add(shape[axis], part.shape[axis]);
    }
    return add_result(out, first.dtype, shape);
}
/// PAD (2.9.2): padding is [before, after] for each axis.
inline result<void> infer_results(tosa::pad, const args<tosa::pad>& a, inference& out) {
    const tensor_meta& input = inference::of(a.input1);
    HEADRACE_TRY(padding, tosa_rules::shape_operand("pad", "padding", a.padding));
    HEADRACE_TRY(tosa_rules::require_items("pad", "padding", *padding, 2 * input.rank(), 0));
    HEADRACE_TRY(tosa_rules::require_single("pad", "pad_const", a.pad_const));
    shape_builder shape;
    for (std::size_t i = 0; i != input.rank(); ++i) {
        shape.push_back(
            saturating_add(input.shape[i], saturating_add((*padding)[2 * i], (*padding)[2 * i + 1])));
    }
    return add_result(out, input.dtype, shape);
}
/// RESHAPE (2.9.3).
inline result<void> infer_results(tosa::reshape, const args<tosa::reshape>& a, inference& out) {
    const tensor_meta& input = inference::of(a.input1);
    HEADRACE_TRY(shape, tosa_rules::shape_operand("reshape", "shape", a.shape));
    const bool negative = std::ranges::any_of(*shape, [](std::int64_t size) { return size < 0; });
    if (negative || element_count(*shape) != element_count(input.shape)) {
        return tosa_rules::refuse(
            "reshape", {"cannot make ", shape_text(*shape), " of ", shape_text(input.shape)});
    }
    return add_result(out, input.dtype, *shape);
}
/// REVERSE (2.9.4).
inline result<void> infer_results(tosa::reverse, const args<tosa::reverse>& a, inference& out) {
    HEADRACE_TRY(tosa_rules::axis_in("reverse", a.axis, a.input1));
    return add_result(out, inference::of(a.input1));
}
/// SLICE (2.9.5): takes start and size, not an end.
inline result<void> infer_results(tosa::slice, const args<tosa::slice>& a, inference& out) {
    const tensor_meta& input = inference::of(a.input1);
    HEADRACE_TRY(start, tosa_rules::shape_operand("slice", "start", a.start));
    HEADRACE_TRY(size, tosa_rules::shape_operand("slice", "size", a.size));
    HEADRACE_TRY(tosa_rules::require_items("slice", "start", *start, input.rank(), 0));
    HEADRACE_TRY(tosa_rules::require_items("slice", "size", *size, input.rank(), 1));
    for (std::size_t i = 0; i != input.rank(); ++i) {
        if (saturating_add((*start)[i], (*size)[i]) > input.shape[i]) {
            return tosa_rules::refuse("slice",
                {"start ", shape_text(*start), " with size ", shape_text(*size), " exceeds ",
                    shape_text(input.shape)});
        }
    }
    return add_result(out, input.dtype, *size);
}
/// TILE (2.9.6).
inline result<void> infer_results(tosa::tile, const args<tosa::tile>& a, inference& out) {
    const tensor_meta& input = inference::of(a.input1);
    HEADRACE_TRY(multiples, tosa_rules::shape_operand("tile", "multiples", a.multiples));
    HEADRACE_TRY(tosa_rules::require_items("tile", "multiples", *multiples, input.rank(), 1));
    shape_builder shape;
    for (std::size_t i = 0; i != input.rank(); ++i) {
        shape.push_back(saturating_mul(input.shape[i], (*multiples)[i]));
    }
    return add_result(out, input.dtype, shape);
}
/// TRANSPOSE (2.9.7): axis i of the result is axis perms[i] of the operand.
inline result<void> infer_results(tosa::transpose, const args<tosa::transpose>& a, inference& out) {
    const tensor_meta& input = inference::of(a.input1);
    HEADRACE_TRY(tosa_rules::require_items("transpose", "perms", a.perms, input.rank(), 0));
    shape_builder shape;
    for (std::size_t i = 0; i != input.rank(); ++i) {
        if (a.perms[i] >= static_cast<std::int64_t>(input.rank()) ||
            std::find(a.perms.begin(), a.perms.begin() + i, a.perms[i]) != a.perms.begin() + i) {
            return tosa_rules::refuse("transpose", {"perms ", shape_text(a.perms), " is not a permutation"});
        }
        shape.push_back(input.shape[static_cast<std::size_t>(a.perms[i])]);
    }
    return add_result(out, input.dtype, shape);
}

/// GATHER (2.10.1): values [N, K, C] by indices [N, W] give [N, W, C].
inline result<void> infer_results(tosa::gather, const args<tosa::gather>& a, inference& out) {
    HEADRACE_TRY(tosa_rules::require_rank_of("gather", "values", a.values, 3));
    HEADRACE_TRY(tosa_rules::require_rank_of("gather", "indices", a.indices, 2));
    const tensor_meta& values = inference::of(a.values);
    const int_list& indices = inference::of(a.indices).shape;
    if (values.shape[0] != indices[0]) {
        return tosa_rules::refuse("gather",
            {"batches of values ", shape_text(values.shape), " and indices ", shape_text(indices),
                " differ"});
    }
    return add_result(out, values.dtype, {indices[0], indices[1], values.shape[2]});
}
/// SCATTER (2.10.2): input [N, W, C] goes into values [N, K, C], each position at most once.
inline result<void> infer_results(tosa::scatter, const args<tosa::scatter>& a, inference& out) {
    HEADRACE_TRY(tosa_rules::require_rank_of("scatter", "values_in", a.values_in, 3));
    HEADRACE_TRY(tosa_rules::require_rank_of("scatter", "indices", a.indices, 2));
    HEADRACE_TRY(tosa_rules::require_rank_of("scatter", "input", a.input, 3));
    const tensor_meta& values = inference::of(a.values_in);
    const int_list& indices = inference::of(a.indices).shape;
    const int_list& input = inference::of(a.input).shape;
    const bool fits = values.shape[0] == indices[0] && input[0] == indices[0] && input[1] == indices[1] &&
        input[2] == values.shape[2] && values.shape[1] >= indices[1];
    if (!fits) {
        return tosa_rules::refuse("scatter",
            {"input ", shape_text(input), " at indices ", shape_text(indices), " does not fit into ",
                shape_text(values.shape)});
    }
    return add_result(out, values);
}

}  // namespace headrace

#endif
