// SPDX-License-Identifier: MIT
// Defines the checks that the rules of tosa share, each of which names the op in its message.
#ifndef HEADRACE_INFER_TOSA_REQUIREMENTS_HPP
#define HEADRACE_INFER_TOSA_REQUIREMENTS_HPP

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory_resource>
#include <string>
#include <string_view>

#include <headrace/base/text.hpp>
#include <headrace/dialect/tosa.hpp>
#include <headrace/infer/inference.hpp>

namespace headrace {

namespace tosa_rules {

inline constexpr std::string_view axis_names[] = {"depth", "height", "width"};

/// Returns the error "conv2d: …".
[[nodiscard]] inline error refuse(std::string_view op, std::string_view what) {
    return invalid({op, ": ", what});
}
[[nodiscard]] inline error refuse(std::string_view op, std::initializer_list<text_part> what) {
    return refuse(op, text_of(what));
}

/// Refuses an attribute with the wrong number of items, or with an item below `least`.
[[nodiscard]] inline result<void> require_items(std::string_view op, std::string_view what,
    const int_list& items, std::size_t count, std::int64_t least) {
    if (items.size() != count) {
        return refuse(op, {what, " ", shape_text(items), " must have ", counted_text(count, "item")});
    }
    for (const std::int64_t item : items) {
        if (item < least) {
            return refuse(op, {what, " ", shape_text(items), " has an item below ", least});
        }
    }
    return {};
}

[[nodiscard]] inline result<void> require_rank_of(
    std::string_view op, std::string_view what, value v, std::size_t rank) {
    const int_list& shape = inference::of(v).shape;
    if (shape.size() == rank) return {};
    return refuse(op, {what, " ", shape_text(shape), " must have rank ", rank});
}

/// Refuses an operand that is not of one dimension with one element, such as a zero point.
[[nodiscard]] inline result<void> require_single(std::string_view op, std::string_view what, value v) {
    const int_list& shape = inference::of(v).shape;
    if (shape.size() == 1 && shape[0] == 1) return {};
    return refuse(op, {what, " ", shape_text(shape), " must have shape [1]"});
}

/// Returns the elements of a shape operand, which only CONST_SHAPE can produce in TOSA 1.0.
[[nodiscard]] inline result<const int_list*> shape_operand(
    std::string_view op, std::string_view what, value v) {
    const auto* shape = match<tosa::const_shape>(v);
    if (shape == nullptr) return refuse(op, {what, " is not a CONST_SHAPE"});
    return &shape->values;
}

/// Returns `room / stride + 1`; TOSA demands that no remainder is left. `terms` names the parts of `room`.
[[nodiscard]] inline result<std::int64_t> exact_positions(
    std::string_view op, std::int64_t room, std::int64_t stride, const std::pmr::string& terms) {
    if (room < 0) return refuse(op, {"(", terms, ") is negative"});
    if (room % stride != 0) {
        return refuse(op, {"(", terms, ") is not divisible by stride ", stride});
    }
    return room / stride + 1;
}

/// The op's name without its dialect: "ADD".
template <class Op>
inline constexpr std::string_view short_name = Op::name.substr(Op::name.find('.') + 1);

/// Returns an axis, which is never negative in TOSA.
[[nodiscard]] inline result<std::size_t> axis_in(std::string_view op, std::int64_t axis, value v) {
    const int_list& shape = inference::of(v).shape;
    if (axis >= 0 && axis < static_cast<std::int64_t>(shape.size())) return static_cast<std::size_t>(axis);
    return refuse(op, {"axis ", axis, " is not an axis of ", shape_text(shape)});
}

}  // namespace tosa_rules

}  // namespace headrace

#endif
