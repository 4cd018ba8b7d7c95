// SPDX-License-Identifier: MIT
// Defines the compile-time comparison of a call's arguments in a pattern with the fields of its op.
#ifndef HEADRACE_FX_PATTERN_ARGUMENTS_HPP
#define HEADRACE_FX_PATTERN_ARGUMENTS_HPP

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <type_traits>

#include <headrace/match/pattern_expression.hpp>
#include <headrace/op/reflect.hpp>
#include <headrace/rewrite/call_checks.hpp>

namespace headrace::detail {

enum class expression_side : bool { pattern, replacement };

template <class T>
inline constexpr bool is_operand = false;
template <std::size_t I>
inline constexpr bool is_operand<wildcard<I>> = true;
template <class Op, class M, class... Ts>
inline constexpr bool is_operand<call_expression<Op, M, Ts...>> = true;
template <std::size_t I, class Call>
inline constexpr bool is_operand<result_expression<I, Call>> = true;
template <>
inline constexpr bool is_operand<filled_constant> = true;
template <>
inline constexpr bool is_operand<any_constant_type> = true;

template <class T>
inline constexpr bool is_wildcard = false;
template <std::size_t I>
inline constexpr bool is_wildcard<wildcard<I>> = true;

template <class T>
inline constexpr bool is_tensor_list = false;
template <class... Ts>
inline constexpr bool is_tensor_list<tensors_expression<Ts...>> = (is_operand<Ts> && ...);
template <class T>
inline constexpr bool is_optional_tensor_list = false;
template <class... Ts>
inline constexpr bool is_optional_tensor_list<tensors_expression<Ts...>> =
    ((is_operand<Ts> || std::is_same_v<Ts, std::nullopt_t>)&&...);

/// True if a C++ value of type T can be a literal of that kind.
template <class T>
constexpr bool is_literal_of(field_kind kind) {
    constexpr bool integral = std::is_integral_v<T> && !std::is_same_v<T, bool>;
    switch (kind) {
        case field_kind::integer:
            return integral;
        case field_kind::floating:
            return integral || std::is_floating_point_v<T>;
        case field_kind::number:
            return std::is_arithmetic_v<T> || std::is_same_v<T, scalar>;
        case field_kind::boolean:
            return std::is_same_v<T, bool>;
        case field_kind::integers:
            return std::is_same_v<T, int_list>;
        case field_kind::floatings:
            return std::is_same_v<T, list<double>>;
        case field_kind::text:
            return std::is_convertible_v<const T&, std::string_view>;
        case field_kind::element_type:
            return std::is_same_v<T, dtype>;
        case field_kind::format:
            return std::is_same_v<T, memory_format>;
        case field_kind::resize:
            return std::is_same_v<T, resize_mode>;
        case field_kind::nan:
            return std::is_same_v<T, nan_mode>;
        case field_kind::rounding:
            return std::is_same_v<T, rounding_mode>;
        default:
            return false;
    }
}
template <expression_side Side, class T>
constexpr bool fits(const field_info& f) {
    if (std::is_same_v<T, std::nullopt_t>) return f.optional;
    if (f.kind == field_kind::tensor) return is_operand<T>;
    if (f.kind == field_kind::tensors) return is_tensor_list<T>;
    if (f.kind == field_kind::optional_tensors) return is_optional_tensor_list<T>;
    if (is_wildcard<T>) return f.kind != field_kind::region && f.kind != field_kind::data;
    if (std::is_same_v<T, any_literal_type>) return Side == expression_side::pattern;
    return is_literal_of<T>(f.kind);
}

/// An argument of a call, by position or by name.
template <class T>
struct argument_traits {
    using type = T;
    static constexpr bool by_name = false;
    static constexpr std::string_view name{};
};
template <class Label, class T>
struct argument_traits<named_argument<Label, T>> {
    using type = T;
    static constexpr bool by_name = true;
    static constexpr std::string_view name = Label::text;
};
template <class T>
using argument_type = typename argument_traits<T>::type;

template <class Op, class... Ts>
constexpr std::array<std::size_t, sizeof...(Ts) + 1> place_arguments() {
    constexpr bool by_name[] = {argument_traits<Ts>::by_name..., false};
    constexpr std::string_view names[] = {argument_traits<Ts>::name..., {}};
    std::array<std::size_t, sizeof...(Ts) + 1> places{};
    std::size_t next = 0;
    for (std::size_t i = 0; i != sizeof...(Ts); ++i) {
        if (by_name[i]) {
            places[i] = 0;
            while (places[i] != field_names<Op>.size() && field_names<Op>[places[i]] != names[i]) ++places[i];
        } else {
            places[i] = next++;
        }
    }
    places[sizeof...(Ts)] = next;  // the number of positional arguments
    return places;
}

// True if all operands without a default are given.
template <class Op, std::size_t N>
constexpr bool operands_given(const std::array<std::size_t, N>& places) {
    for (std::size_t k = 0; k != field_names<Op>.size(); ++k) {
        const field_info& f = fields_of<Op>[k];
        if (f.optional || (f.kind != field_kind::tensor && f.kind != field_kind::tensors)) continue;
        bool given = k < places[N - 1];
        for (std::size_t i = 0; i + 1 != N; ++i) given |= places[i] == k;
        if (!given) return false;
    }
    return true;
}

template <expression_side Side, class... Ts, std::size_t N, std::size_t F>
constexpr std::size_t first_misfit(
    const std::array<std::size_t, N>& places, const std::array<field_info, F>& fields) {
    std::size_t i = 0;
    const auto sound = [&]<class T>() {
        if (places[i] >= F || !fits<Side, argument_type<T>>(fields[places[i]])) return false;
        ++i;
        return true;
    };
    static_cast<void>(sound);
    static_cast<void>((sound.template operator()<Ts>() && ...));
    return i;
}

// Diagnoses an argument that does not fit the field at `Place`, or that has no field.
template <class Op, std::size_t Place, class T>
auto misfit_at() {
    if constexpr (Place < field_names<Op>.size()) {
        return argument_fault<Op, Place, argument_type<T>>{};
    } else {
        constexpr std::string_view name = argument_traits<T>::name;
        return no_such_field<Op, fixed_string<name.size() + 1>(name)>{};
    }
}

}  // namespace headrace::detail

#endif
