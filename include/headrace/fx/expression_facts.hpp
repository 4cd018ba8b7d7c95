// SPDX-License-Identifier: MIT
// Defines the facts of an expression, read from its type: the ops that it calls, its first fault, and the
// uses of its placeholders.
#ifndef HEADRACE_FX_EXPRESSION_FACTS_HPP
#define HEADRACE_FX_EXPRESSION_FACTS_HPP

#include <array>
#include <cstddef>
#include <type_traits>

#include <headrace/fx/pattern_arguments.hpp>
#include <headrace/match/pattern_expression.hpp>
#include <headrace/pass/pipeline_checks.hpp>
#include <headrace/rewrite/call_checks.hpp>

namespace headrace {

/// Diagnoses of expressions, for compile errors, in addition to those of calls (rewrite/call_checks.hpp).
template <class Op, std::size_t Result>
struct no_such_result {};
template <class Expression>
struct no_call {};

template <class Op, std::size_t Result>
inline constexpr bool arguments_fit<no_such_result<Op, Result>> = false;
template <class Diagnosis>
inline constexpr bool returns_calls = true;
template <class Expression>
inline constexpr bool returns_calls<no_call<Expression>> = false;
/// True if an expression has no fault.
template <class Diagnosis>
inline constexpr bool sound_expression = false;
template <>
inline constexpr bool sound_expression<no_fault> = true;

namespace detail {

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
        } else if constexpr (!std::is_same_v<declaration_fault<Op>, no_fault>) {
            return declaration_fault<Op>{};
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

}  // namespace detail
}  // namespace headrace

#endif
