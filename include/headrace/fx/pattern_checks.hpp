// SPDX-License-Identifier: MIT
// Defines the compile-time checks of patterns and replacements, and the diagnoses that name their faults.
#ifndef HEADRACE_FX_PATTERN_CHECKS_HPP
#define HEADRACE_FX_PATTERN_CHECKS_HPP

#include <cstddef>
#include <type_traits>
#include <utility>

#include <headrace/fx/expression_facts.hpp>
#include <headrace/match/pattern_expression.hpp>
#include <headrace/rewrite/call_checks.hpp>

namespace headrace {

/// Diagnoses of patterns, for compile errors, in addition to those of their expressions.
/// A placeholder without a use; `Op` is that of the first value that the pattern returns.
template <std::size_t Index, class Op>
struct unused_placeholder {};
/// A placeholder used both as an operand and as a literal, or as two kinds of literals.
template <std::size_t Index, class Op>
struct mixed_placeholder {};
template <std::size_t Given, std::size_t Wanted>
struct other_inputs {};
template <std::size_t Given, std::size_t Wanted>
struct other_outputs {};

template <std::size_t Index, class Op>
inline constexpr bool arguments_fit<mixed_placeholder<Index, Op>> = false;
template <class Diagnosis>
inline constexpr bool placeholders_used = true;
template <std::size_t Index, class Op>
inline constexpr bool placeholders_used<unused_placeholder<Index, Op>> = false;
template <class Diagnosis>
inline constexpr bool replacement_fits = true;
template <std::size_t Given, std::size_t Wanted>
inline constexpr bool replacement_fits<other_inputs<Given, Wanted>> = false;
template <std::size_t Given, std::size_t Wanted>
inline constexpr bool replacement_fits<other_outputs<Given, Wanted>> = false;

namespace detail {

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
