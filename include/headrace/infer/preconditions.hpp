// SPDX-License-Identifier: MIT
// Defines the preconditions that inference rules share: documented requirements on an op's arguments.
#ifndef HEADRACE_INFER_PRECONDITIONS_HPP
#define HEADRACE_INFER_PRECONDITIONS_HPP

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include <headrace/base/result.hpp>
#include <headrace/base/text.hpp>
#include <headrace/infer/inference.hpp>
#include <headrace/infer/shape_builder.hpp>

namespace headrace {

// Kernels and passes rely on the rules' checks, so a rule checks every argument. Each message names the
// argument, its value, and what it must be.

// --- numbers and lists -----------------------------------------------------------------------------------

/// Refuses an integer outside of [low, high].
[[nodiscard]] result<void> require_between(
    std::string_view what, std::int64_t number, std::int64_t low, std::int64_t high);
[[nodiscard]] result<void> require_equal(std::string_view what, std::int64_t number, std::int64_t expected);
[[nodiscard]] result<void> require_at_least(std::string_view what, std::int64_t number, std::int64_t low);

/// Refuses a list of the wrong length.
[[nodiscard]] result<void> require_count(std::string_view what, std::size_t given, std::size_t expected);

// --- shapes ----------------------------------------------------------------------------------------------

/// Refuses an operand of the wrong shape.
[[nodiscard]] result<void> require_shape(std::string_view what, sizes shape, sizes expected);
/// Refuses an optional operand of the wrong shape.
[[nodiscard]] result<void> require_shape(
    std::string_view what, const std::optional<value>& v, sizes expected);

/// Refuses an operand with the wrong number of elements, regardless of its shape.
[[nodiscard]] result<void> require_elements(std::string_view what, sizes shape, std::int64_t count);
/// Refuses an optional operand with the wrong number of elements.
[[nodiscard]] result<void> require_elements(
    std::string_view what, const std::optional<value>& v, std::int64_t count);

/// Refuses a shape with a size of 0.
[[nodiscard]] result<void> require_nonempty(std::string_view what, sizes shape);

/// Refuses an operand that does not broadcast to a shape.
[[nodiscard]] result<void> require_expandable(std::string_view what, sizes from, sizes to);

/// Refuses a shape that differs from `expected` in rank or along any axis except `axis`.
[[nodiscard]] result<void> require_shape_beside(
    std::string_view what, sizes shape, sizes expected, std::size_t axis);

// --- dtypes ----------------------------------------------------------------------------------------------

namespace detail {
error other_dtype(std::string_view what, dtype given, std::string_view expected);
}  // namespace detail

/// Refuses an operand of the wrong dtype.
[[nodiscard]] result<void> require_dtype(std::string_view what, dtype given, dtype expected);
/// Refuses an optional operand of the wrong dtype.
[[nodiscard]] result<void> require_dtype(
    std::string_view what, const std::optional<value>& v, dtype expected);
/// Refuses dtypes that PyTorch does not accept as indices.
[[nodiscard]] result<void> require_indices(std::string_view what, const tensor_meta& t);
/// True for booleans, and for uint8, which PyTorch still accepts as a mask because it once represented bool.
[[nodiscard]] constexpr bool is_mask(dtype t) { return is_boolean(t) || t == dtype::uint8; }
[[nodiscard]] result<void> require_mask(std::string_view what, const tensor_meta& t);
[[nodiscard]] result<void> require_floating(std::string_view what, dtype given);
/// Refuses complex numbers.
[[nodiscard]] result<void> require_real(std::string_view what, dtype given);
/// Refuses dtypes without bitwise operations.
[[nodiscard]] result<void> require_bits(std::string_view what, dtype given);

/// True if quantized values can have that scale: passes divide by it, and kernels hold it in float32.
[[nodiscard]] constexpr bool is_scale(double s) {
    return s <= std::numeric_limits<float>::max() && static_cast<float>(s) > 0;
}
[[nodiscard]] inline result<void> require_scale(std::string_view what, double s) {
    if (is_scale(s)) return {};
    return invalid({what, " must be above 0 and finite in float32"});
}

/// Refuses a dtype that an op's traits exclude, whether of one operand or the common dtype of several.
[[nodiscard]] result<void> require_type_for(std::uint64_t trait_bits, std::string_view what, dtype given);
template <op_tag Op>
[[nodiscard]] result<void> require_type_for(std::string_view what, dtype given) {
    return require_type_for(Op::trait_bits, what, given);
}

}  // namespace headrace

#ifndef HEADRACE_COMPILED
#include <headrace/infer/preconditions_definition.hpp>
#endif

#endif
