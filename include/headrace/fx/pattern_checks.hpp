// SPDX-License-Identifier: MIT
// Defines the compile-time checks of a pattern's expression, and the diagnoses that name its faults.
#ifndef HEADRACE_FX_PATTERN_CHECKS_HPP
#define HEADRACE_FX_PATTERN_CHECKS_HPP

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <headrace/match/pattern_expression.hpp>
#include <headrace/op/reflect.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/pass/pipeline_checks.hpp>

namespace headrace {

/// Diagnoses of patterns, for compile errors, in addition to those of calls (pass/call_checks.hpp).
template <class Op, std::size_t Result>
struct no_such_result {};
/// A placeholder without a use; `Op` is that of the first value that the pattern returns.
template <std::size_t Index, class Op>
struct unused_placeholder {};
/// A placeholder used both as an operand and as a literal, or as two kinds of literals.
template <std::size_t Index, class Op>
struct mixed_placeholder {};
template <class Expression>
struct no_call {};
template <std::size_t Given, std::size_t Wanted>
struct other_inputs {};
template <std::size_t Given, std::size_t Wanted>
struct other_outputs {};

template <class Op, std::size_t Result>
inline constexpr bool arguments_fit<no_such_result<Op, Result>> = false;
template <std::size_t Index, class Op>
inline constexpr bool arguments_fit<mixed_placeholder<Index, Op>> = false;
template <class Diagnosis>
inline constexpr bool placeholders_used = true;
template <std::size_t Index, class Op>
inline constexpr bool placeholders_used<unused_placeholder<Index, Op>> = false;
template <class Diagnosis>
inline constexpr bool returns_calls = true;
template <class Expression>
inline constexpr bool returns_calls<no_call<Expression>> = false;
template <class Diagnosis>
inline constexpr bool replacement_fits = true;
template <std::size_t Given, std::size_t Wanted>
inline constexpr bool replacement_fits<other_inputs<Given, Wanted>> = false;
template <std::size_t Given, std::size_t Wanted>
inline constexpr bool replacement_fits<other_outputs<Given, Wanted>> = false;
/// True if none of these diagnoses applies.
template <class Diagnosis>
inline constexpr bool sound_expression = false;
template <>
inline constexpr bool sound_expression<no_fault> = true;

namespace detail {

enum class expression_side : bool { pattern, replacement };

/// The uses of a placeholder.
struct placeholder_use {
    bool as_operand = false;
    bool as_literal = false;
    bool mixed = false;
    field_kind kind = field_kind::tensor;
    bool optional = false;

    constexpr void note(field_kind k, bool is_optional_field) {
        if (holds_tensors(k)) {
            mixed |= as_literal;
            as_operand = true;
        } else {
            mixed |= as_operand || (as_literal && (kind != k || optional != is_optional_field));
            as_literal = true;
            kind = k;
            optional = is_optional_field;
        }
    }
    [[nodiscard]] constexpr bool used() const { return as_operand || as_literal; }
};
using placeholder_uses = std::array<placeholder_use, max_wildcards>;

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

/// The facts of a part of an expression: the ops that it calls, its fault, and the uses of its placeholders.
/// Literals have no fault of their own; the call compares them with its fields.
template <expression_side Side, class E>
struct expression_facts {
    using called = ops<>;
    using fault = no_fault;
    static constexpr void note(placeholder_uses&) {}
};
template <>
struct expression_facts<expression_side::replacement, any_constant_type>
    : expression_facts<expression_side::replacement, void> {
    using fault = no_call<any_constant_type>;
};
template <expression_side Side, std::size_t I>
struct expression_facts<Side, wildcard<I>> : expression_facts<Side, void> {
    static constexpr void note(placeholder_uses& uses) { uses[I].note(field_kind::tensor, false); }
};
template <expression_side Side, class Label, class T>
struct expression_facts<Side, named_argument<Label, T>> : expression_facts<Side, T> {};

template <expression_side Side, class... Es>
struct facts_of_all {
    using called = joined<typename expression_facts<Side, Es>::called...>;
    using fault = decltype(first_fault<typename expression_facts<Side, Es>::fault...>());
    static constexpr void note(placeholder_uses& uses) { (expression_facts<Side, Es>::note(uses), ...); }
};
template <expression_side Side, class... Es>
struct expression_facts<Side, tensors_expression<Es...>> : facts_of_all<Side, Es...> {};
template <expression_side Side, class... Es>
struct expression_facts<Side, returned_values<Es...>> : facts_of_all<Side, Es...> {};

template <expression_side Side, std::size_t I, class E>
struct expression_facts<Side, result_expression<I, E>> : expression_facts<Side, E> {
    using fault = no_call<E>;
};
template <expression_side Side, std::size_t I, class Op, class M, class... Ts>
struct expression_facts<Side, result_expression<I, call_expression<Op, M, Ts...>>>
    : expression_facts<Side, call_expression<Op, M, Ts...>> {
    using call_facts = expression_facts<Side, call_expression<Op, M, Ts...>>;
    static auto diagnose() {
        if constexpr (!std::is_same_v<typename call_facts::fault, no_fault>) {
            return typename call_facts::fault{};
        } else if constexpr (Op::results != variadic_results && I >= std::size_t{Op::results}) {
            return no_such_result<Op, I>{};
        } else {
            return no_fault{};
        }
    }
    using fault = decltype(diagnose());
};

template <expression_side Side, class Op, class M, class... Ts>
struct expression_facts<Side, call_expression<Op, M, Ts...>> {
    using arguments = facts_of_all<Side, Ts...>;
    using called = joined<ops<Op>, typename arguments::called>;

    // Inner faults come first, because they cause the outer ones.
    static auto diagnose() {
        if constexpr (!std::is_same_v<typename arguments::fault, no_fault>) {
            return typename arguments::fault{};
        } else if constexpr (!is_known_op<Op>()) {
            return unknown_op<Op>{};
        } else {
            constexpr auto places = place_arguments<Op, Ts...>();
            constexpr std::size_t takes = field_names<Op>.size();
            if constexpr (places[sizeof...(Ts)] > takes || !operands_given<Op>(places)) {
                return wrong_arity<Op, places[sizeof...(Ts)], takes>{};
            } else {
                constexpr std::size_t at = first_misfit<Side, Ts...>(places, fields_of<Op>);
                if constexpr (at != sizeof...(Ts)) {
                    return misfit_at<Op, places[at], typename type_at<at, ops<Ts...>>::type>();
                } else {
                    return no_fault{};
                }
            }
        }
    }
    using fault = decltype(diagnose());

    static constexpr void note(placeholder_uses& uses) {
        if constexpr (std::is_same_v<fault, no_fault>) {
            constexpr auto places = place_arguments<Op, Ts...>();
            std::size_t i = 0;
            (note_argument(uses, std::type_identity<argument_type<Ts>>{}, fields_of<Op>[places[i++]]), ...);
            static_cast<void>(i);
        }
    }

private:
    template <class T>
    static constexpr void note_argument(placeholder_uses& uses, std::type_identity<T>, const field_info&) {
        expression_facts<Side, T>::note(uses);
    }
    template <std::size_t I>
    static constexpr void note_argument(
        placeholder_uses& uses, std::type_identity<wildcard<I>>, const field_info& f) {
        uses[I].note(f.kind, f.optional);
    }
};

template <class E>
struct root_op {
    using type = void;
};
template <class Op, class M, class... Ts>
struct root_op<call_expression<Op, M, Ts...>> {
    using type = Op;
};
template <std::size_t I, class E>
struct root_op<result_expression<I, E>> : root_op<E> {};
template <class E, class... Es>
struct root_op<returned_values<E, Es...>> : root_op<E> {};

template <class E>
struct first_without_call {
    using type = std::conditional_t<std::is_void_v<typename root_op<E>::type>, no_call<E>, no_fault>;
};
template <class... Es>
struct first_without_call<returned_values<Es...>> {
    using type = decltype(first_fault<typename first_without_call<Es>::type...>());
};

template <class E>
inline constexpr std::size_t output_count = 1;
template <class... Es>
inline constexpr std::size_t output_count<returned_values<Es...>> = sizeof...(Es);

template <class E>
constexpr placeholder_uses uses_in() {
    placeholder_uses uses{};
    expression_facts<expression_side::pattern, E>::note(uses);
    return uses;
}
template <std::size_t Inputs>
constexpr std::size_t first_unused(const placeholder_uses& uses) {
    std::size_t i = 0;
    while (i != Inputs && uses[i].used()) ++i;
    return i;
}
template <std::size_t Inputs>
constexpr std::size_t first_mixed(const placeholder_uses& uses) {
    std::size_t i = 0;
    while (i != Inputs && !uses[i].mixed) ++i;
    return i;
}

/// The facts of a pattern's callable; `fault` is its first fault.
template <class F>
struct pattern_facts {
    static constexpr std::size_t inputs = input_count<F>;
    using expression = decltype(expression_of(std::declval<const F&>()));
    using facts = expression_facts<expression_side::pattern, expression>;
    using root = typename root_op<expression>::type;
    using called = typename facts::called;
    static constexpr std::size_t outputs = output_count<expression>;

    static auto diagnose() {
        using without_call = typename first_without_call<expression>::type;
        if constexpr (!std::is_same_v<typename facts::fault, no_fault>) {
            return typename facts::fault{};
        } else if constexpr (!std::is_same_v<without_call, no_fault>) {
            return without_call{};
        } else {
            constexpr placeholder_uses uses = uses_in<expression>();
            constexpr std::size_t unused = first_unused<inputs>(uses);
            constexpr std::size_t mixed = first_mixed<inputs>(uses);
            if constexpr (unused != inputs) {
                return unused_placeholder<unused, root>{};
            } else if constexpr (mixed != inputs) {
                return mixed_placeholder<mixed, root>{};
            } else {
                return no_fault{};
            }
        }
    }
    using fault = decltype(diagnose());
    static constexpr bool sound = std::is_same_v<fault, no_fault>;
};

// Returns the first placeholder that a replacement uses differently than the pattern, or `Inputs`.
template <std::size_t Inputs>
constexpr std::size_t first_changed(const placeholder_uses& pattern, const placeholder_uses& replacement) {
    std::size_t i = 0;
    for (; i != Inputs; ++i) {
        const placeholder_use& p = pattern[i];
        const placeholder_use& r = replacement[i];
        if (!r.used()) continue;
        if (r.mixed || r.as_operand != p.as_operand || r.kind != p.kind || (p.optional && !r.optional)) break;
    }
    return i;
}

/// The facts of a replacement's callable, checked against its pattern.
template <class F, class Pattern>
struct replacement_facts {
    static constexpr std::size_t inputs = input_count<F>;
    using expression = decltype(expression_of(std::declval<const F&>()));
    using facts = expression_facts<expression_side::replacement, expression>;
    using called = typename facts::called;
    static constexpr std::size_t outputs = output_count<expression>;

    static auto diagnose() {
        using pattern = pattern_facts<Pattern>;
        if constexpr (!pattern::sound) {
            return no_fault{};  // one error is enough
        } else if constexpr (!std::is_same_v<typename facts::fault, no_fault>) {
            return typename facts::fault{};
        } else if constexpr (inputs != pattern::inputs) {
            return other_inputs<inputs, pattern::inputs>{};
        } else if constexpr (outputs != pattern::outputs) {
            return other_outputs<outputs, pattern::outputs>{};
        } else {
            constexpr std::size_t changed =
                first_changed<inputs>(uses_in<typename pattern::expression>(), uses_in<expression>());
            if constexpr (changed != inputs) {
                return mixed_placeholder<changed, typename pattern::root>{};
            } else {
                return no_fault{};
            }
        }
    }
    using fault = decltype(diagnose());
    static constexpr bool sound = std::is_same_v<fault, no_fault>;
};

}  // namespace detail
}  // namespace headrace

#endif
