// SPDX-License-Identifier: MIT
// Defines the shape and dtype rules of the tosa dialect. CONST and CUSTOM have none: only their metadata
// states their results.
#ifndef HEADRACE_INFER_TOSA_DEFINITION_HPP
#define HEADRACE_INFER_TOSA_DEFINITION_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <string>
#include <string_view>

#include <headrace/base/text.hpp>
#include <headrace/dialect/tosa.hpp>
#include <headrace/infer/inference.hpp>
#include <headrace/infer/shape_builder.hpp>
#include <headrace/infer/tosa_window.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace {

namespace tosa {

using comparison_ops = ops<equal, greater, greater_equal>;

/// Ops that keep shape and dtype (TOSA 1.0, sections 2.3, 2.5) and have no parameters.
template <class Op>
concept plain_unary = op_where<Op, dialect, trait::unary> && field_names<Op>.size() == 1;

/// Ops of two operands whose dtype is the result's (2.4). MUL and comparisons have a different one.
template <class Op>
concept plain_binary =
    op_where<Op, dialect, trait::binary> && !one_of<Op, comparison_ops> && !__is_same(Op, mul);

}  // namespace tosa

namespace tosa_rules {

/// The op's name without its dialect: "ADD".
template <class Op>
inline constexpr std::string_view short_name = Op::name.substr(Op::name.find('.') + 1);

/// TOSA broadcasts only sizes of 1, and never ranks (section 1.9.7).
[[nodiscard]] inline result<shape_builder> broadcast_equal_ranks(std::string_view op, sizes a, sizes b) {
    const auto wrong = [&] {
        return refuse(op, {"cannot broadcast ", shape_text(a), " with ", shape_text(b)});
    };
    if (a.size() != b.size())
        return refuse(op, {"ranks of ", shape_text(a), " and ", shape_text(b), " differ"});
    shape_builder shape(a);
    for (std::size_t i = 0; i != a.size(); ++i) {
        if (a[i] != b[i] && a[i] != 1 && b[i] != 1) return wrong();
        if (a[i] == 1) shape[i] = b[i];
    }
    return shape;
}

[[nodiscard]] inline result<shape_builder> broadcast_operands(std::string_view op, value a, value b) {
    const tensor_meta& left = inference::of(a);
    const tensor_meta& right = inference::of(b);
    if (left.dtype != right.dtype) {
        return refuse(op, {"its operands are of ", name_of(left.dtype), " and ", name_of(right.dtype)});
    }
    return broadcast_equal_ranks(op, left.shape, right.shape);
}

inline result<void> infer_binary(std::string_view op, value a, value b, dtype type, inference& out) {
    HEADRACE_TRY(shape, broadcast_operands(op, a, b));
    return add_result(out, type, shape);
}

/// Returns an axis, which is never negative in TOSA.
[[nodiscard]] inline result<std::size_t> axis_in(std::string_view op, std::int64_t axis, value v) {
    const int_list& shape = inference::of(v).shape;
    if (axis >= 0 && axis < static_cast<std::int64_t>(shape.size())) return static_cast<std::size_t>(axis);
    return refuse(op, {"axis ", axis, " is not an axis of ", shape_text(shape)});
}

}  // namespace tosa_rules

// --- elementwise -----------------------------------------------------------------------

template <tosa::plain_unary Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const auto& [operand] = a;
    return add_result(out, inference::of(operand));
}
/// IDENTITY (2.13.2).
inline result<void> infer_results(tosa::identity, const args<tosa::identity>& a, inference& out) {
    return add_result(out, inference::of(a.input1));
}
/// CLAMP (2.3.1).
inline result<void> infer_results(tosa::clamp, const args<tosa::clamp>& a, inference& out) {
    const bool ordered = a.min_val.is_floating() || a.max_val.is_floating()
        ? a.min_val.to_double() <= a.max_val.to_double()
        : a.min_val.to_int() <= a.max_val.to_int();
    if (!ordered) return tosa_rules::refuse("clamp", "min_val is above max_val, or one is not a number");
    return add_result(out, inference::of(a.input));
}
/// Elementwise ops of two operands (2.4).
template <tosa::plain_binary Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return tosa_rules::infer_binary(
        tosa_rules::short_name<Op>, a.input1, a.input2, inference::of(a.input1).dtype, out);
}
/// Comparisons (2.7).
template <one_of<tosa::comparison_ops> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return tosa_rules::infer_binary(tosa_rules::short_name<Op>, a.input1, a.input2, dtype::boolean, out);
}
/// MUL (2.4.14): the product of integers is INT32.
inline result<void> infer_results(tosa::mul, const args<tosa::mul>& a, inference& out) {
    HEADRACE_TRY(tosa_rules::require_single("mul", "shift", a.shift));
    const dtype type = inference::of(a.input1).dtype;
    return tosa_rules::infer_binary("mul", a.input1, a.input2, is_integral(type) ? dtype::int32 : type, out);
}
/// NEGATE (2.5.11).
inline result<void> infer_results(tosa::negate, const args<tosa::negate>& a, inference& out) {
    HEADRACE_TRY(tosa_rules::require_single("negate", "input1_zp", a.input1_zp));
    HEADRACE_TRY(tosa_rules::require_single("negate", "output_zp", a.output_zp));
    return add_result(out, inference::of(a.input1));
}
/// TABLE (2.4.17): 256 entries for INT8; 513 for INT16, whose results are interpolated to INT32.
inline result<void> infer_results(tosa::table, const args<tosa::table>& a, inference& out) {
    const tensor_meta& input = inference::of(a.input1);
    const int_list& entries = inference::of(a.table).shape;
    const std::int64_t wanted = input.dtype == dtype::int16 ? 513 : 256;
    if (entries.size() != 1 || entries[0] != wanted) {
        return tosa_rules::refuse(
            "table", {"the table ", shape_text(entries), " must have shape [", wanted, "]"});
    }
    return add_result(out, input.dtype == dtype::int16 ? dtype::int32 : input.dtype, input);
}
/// SELECT (2.6.1).
inline result<void> infer_results(tosa::select, const args<tosa::select>& a, inference& out) {
    HEADRACE_TRY(chosen, tosa_rules::broadcast_operands("select", a.input2, a.input3));
    HEADRACE_TRY(shape, tosa_rules::broadcast_equal_ranks("select", chosen, inference::of(a.input1).shape));
    return add_result(out, inference::of(a.input2).dtype, shape);
}

// --- reductions ------------------------------------------------------------------------

/// Reductions keep their axis, with size 1 (2.8). ARGMAX does not, see below.
template <op_where<tosa::dialect, trait::reduction> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(axis, tosa_rules::axis_in(tosa_rules::short_name<Op>, a.axis, a.input));
    shape_builder shape(inference::of(a.input).shape);
    shape[axis] = 1;
    return add_result(out, inference::of(a.input).dtype, shape);
}
/// ARGMAX drops its axis (2.2.1).
inline result<void> infer_results(tosa::argmax, const args<tosa::argmax>& a, inference& out) {
    HEADRACE_TRY(axis, tosa_rules::axis_in("argmax", a.axis, a.input));
    shape_builder shape(inference::of(a.input).shape);
    shape.erase(axis);
    return add_result(out, dtype::int32, shape);
}

// --- layout ----------------------------------------------------------------------------

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
    const bool negative =
        std::any_of(shape->begin(), shape->end(), [](std::int64_t size) { return size < 0; });
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

// --- conversions, control flow, data ---------------------------------------------------

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
