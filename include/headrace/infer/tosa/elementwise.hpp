// SPDX-License-Identifier: MIT
// Defines the shape and dtype rules of TOSA's elementwise ops and reductions (TOSA 1.0, sections 2.3
// to 2.8), and of ARGMAX.
#ifndef HEADRACE_INFER_TOSA_ELEMENTWISE_HPP
#define HEADRACE_INFER_TOSA_ELEMENTWISE_HPP

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <headrace/base/text.hpp>
#include <headrace/dialect/tosa.hpp>
#include <headrace/infer/inference.hpp>
#include <headrace/infer/shape_builder.hpp>
#include <headrace/infer/tosa/requirements.hpp>

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

}  // namespace tosa_rules

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

}  // namespace headrace

#endif
