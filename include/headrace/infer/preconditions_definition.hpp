// SPDX-License-Identifier: MIT
// Defines the functions of infer/preconditions.hpp.
#ifndef HEADRACE_INFER_PRECONDITIONS_DEFINITION_HPP
#define HEADRACE_INFER_PRECONDITIONS_DEFINITION_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <headrace/base/compiled.hpp>
#include <headrace/base/result.hpp>
#include <headrace/base/text.hpp>
#include <headrace/infer/inference.hpp>
#include <headrace/infer/shape_builder.hpp>

namespace headrace {

HEADRACE_INLINE result<void> require_between(
    std::string_view what, std::int64_t number, std::int64_t low, std::int64_t high) {
    if (number >= low && number <= high) return {};
    std::pmr::string text(what);
    text += text_of({" is ", number, ", but must be "});
    text += high == INT64_MAX ? text_of({"at least ", low}) : text_of({"from ", low, " to ", high});
    return invalid(text);
}

HEADRACE_INLINE result<void> require_equal(
    std::string_view what, std::int64_t number, std::int64_t expected) {
    if (number == expected) return {};
    return invalid({what, " is ", number, ", but must be ", expected});
}

HEADRACE_INLINE result<void> require_at_least(std::string_view what, std::int64_t number, std::int64_t low) {
    return require_between(what, number, low, INT64_MAX);
}

HEADRACE_INLINE result<void> require_count(std::string_view what, std::size_t given, std::size_t expected) {
    if (given == expected) return {};
    return invalid({what, " has ", counted_text(given, "element"), ", but must have ", expected});
}

HEADRACE_INLINE result<void> require_shape(std::string_view what, sizes shape, sizes expected) {
    if (std::equal(shape.begin(), shape.end(), expected.begin(), expected.end())) return {};
    return invalid({what, " ", shape_text(shape), " must have shape ", shape_text(expected)});
}

HEADRACE_INLINE result<void> require_shape(
    std::string_view what, const std::optional<value>& v, sizes expected) {
    if (!v) return {};
    return require_shape(what, inference::of(*v).shape, expected);
}

HEADRACE_INLINE result<void> require_elements(std::string_view what, sizes shape, std::int64_t count) {
    if (element_count(shape) == count) return {};
    return invalid({what, " ", shape_text(shape), " must have ", counted_text(count, "element")});
}

HEADRACE_INLINE result<void> require_elements(
    std::string_view what, const std::optional<value>& v, std::int64_t count) {
    if (!v) return {};
    return require_elements(what, inference::of(*v).shape, count);
}

HEADRACE_INLINE result<void> require_nonempty(std::string_view what, sizes shape) {
    for (const std::int64_t size : shape) {
        if (size <= 0) return invalid({what, " ", shape_text(shape), " must not be empty"});
    }
    return {};
}

HEADRACE_INLINE result<void> require_expandable(std::string_view what, sizes from, sizes to) {
    if (expanded_shape(from, to)) return {};
    return invalid({what, " ", shape_text(from), " must broadcast to ", shape_text(to)});
}

HEADRACE_INLINE result<void> require_shape_beside(
    std::string_view what, sizes shape, sizes expected, std::size_t axis) {
    bool equal = shape.size() == expected.size();
    for (std::size_t i = 0; equal && i != shape.size(); ++i) equal = i == axis || shape[i] == expected[i];
    if (equal) return {};
    return invalid({what, " ", shape_text(shape), " must have shape ", shape_text(expected),
        ", apart from axis ", axis});
}

namespace detail {

HEADRACE_INLINE error other_dtype(std::string_view what, dtype given, std::string_view expected) {
    return invalid({what, " is ", name_of(given), ", but must be ", expected});
}

}  // namespace detail

HEADRACE_INLINE result<void> require_dtype(std::string_view what, dtype given, dtype expected) {
    if (given == expected) return {};
    return detail::other_dtype(what, given, name_of(expected));
}

HEADRACE_INLINE result<void> require_dtype(
    std::string_view what, const std::optional<value>& v, dtype expected) {
    if (!v) return {};
    return require_dtype(what, inference::of(*v).dtype, expected);
}

HEADRACE_INLINE result<void> require_indices(std::string_view what, const tensor_meta& t) {
    if (t.dtype == dtype::int64 || t.dtype == dtype::int32) return {};
    return detail::other_dtype(what, t.dtype, "int64 or int32");
}

HEADRACE_INLINE result<void> require_mask(std::string_view what, const tensor_meta& t) {
    if (is_mask(t.dtype)) return {};
    return detail::other_dtype(what, t.dtype, "bool");
}

HEADRACE_INLINE result<void> require_floating(std::string_view what, dtype given) {
    if (is_floating(given) || is_complex(given)) {
        return {};
    }
    return detail::other_dtype(what, given, "a floating-point type");
}

HEADRACE_INLINE result<void> require_real(std::string_view what, dtype given) {
    if (!is_complex(given)) return {};
    return detail::other_dtype(what, given, "a type of real numbers");
}

HEADRACE_INLINE result<void> require_bits(std::string_view what, dtype given) {
    if (is_boolean(given) || is_integral(given)) return {};
    return detail::other_dtype(what, given, "bool or an integer type");
}

HEADRACE_INLINE result<void> require_type_for(std::uint64_t trait_bits, std::string_view what, dtype given) {
    if (has_any(trait_bits, trait::on_floats)) {
        HEADRACE_TRY(require_floating(what, given));
    }
    if (has_any(trait_bits, trait::on_bits)) {
        HEADRACE_TRY(require_bits(what, given));
    }
    if (has_any(trait_bits, trait::on_numbers) && is_boolean(given))
        return detail::other_dtype(what, given, "a type of numbers");
    if (has_any(trait_bits, trait::on_reals)) {
        HEADRACE_TRY(require_real(what, given));
    }
    return {};
}

}  // namespace headrace

#endif
