// SPDX-License-Identifier: MIT
// Defines the diagnoses of rules, which name the pass and the op of the rule in compile errors.
#ifndef HEADRACE_PASS_RULE_DIAGNOSES_HPP
#define HEADRACE_PASS_RULE_DIAGNOSES_HPP

#include <cstddef>

#include <headrace/base/fixed_string.hpp>
#include <headrace/pass/call_checks.hpp>
#include <headrace/pass/emit.hpp>
#include <headrace/pass/expression.hpp>

namespace headrace {

/// Diagnoses of rules, for compile errors. A rule's callable cannot be called with the operands of `Op`.
template <class Op>
struct not_callable_with {};
/// The code of a rule cannot be called with an emitter of `List` and the arguments of `Op`.
template <class Op, class List>
struct not_code_for {};
/// The code of a rule returns a `T`.
template <class T>
struct not_values {};
/// A rule returns `Given` expressions for an op with `Has` results.
template <class Op, std::size_t Given, std::size_t Has>
struct wrong_result_count {};
/// The compiler has already reported an error in a callable.
struct unreadable {};
/// A rewrite asks its match for a node whose name is not in the pattern (match/node_pattern.hpp).
template <fixed_string... Names>
struct pattern_names {};
template <fixed_string Name, class Names>
struct not_in_pattern {};
/// The rule of `Op` that has the diagnosis.
template <class Pass, class Op, class Diagnosis>
struct in_rewrite {};

// One trait per message, for the diagnosis alone or with its location.
template <class Diagnosis>
inline constexpr bool rule_takes_operands = true;
template <class Op>
inline constexpr bool rule_takes_operands<not_callable_with<Op>> = false;
template <class Pass, class Op, class Diagnosis>
inline constexpr bool rule_takes_operands<in_rewrite<Pass, Op, Diagnosis>> = rule_takes_operands<Diagnosis>;
template <class Diagnosis>
inline constexpr bool code_takes_arguments = true;
template <class Op, class List>
inline constexpr bool code_takes_arguments<not_code_for<Op, List>> = false;
template <class Pass, class Op, class Diagnosis>
inline constexpr bool code_takes_arguments<in_rewrite<Pass, Op, Diagnosis>> = code_takes_arguments<Diagnosis>;
template <class Diagnosis>
inline constexpr bool code_lists_all = true;
template <class Pass, class Op, class Other, class List>
inline constexpr bool code_lists_all<in_rewrite<Pass, Op, not_produced<Other, List>>> = false;
template <class Diagnosis>
inline constexpr bool rule_gives_results = true;
template <class Op, std::size_t Given, std::size_t Has>
inline constexpr bool rule_gives_results<wrong_result_count<Op, Given, Has>> = false;
template <class T>
inline constexpr bool rule_gives_results<not_an_expression<T>> = false;
template <class T>
inline constexpr bool rule_gives_results<not_values<T>> = false;
template <class Pass, class Op, class Diagnosis>
inline constexpr bool rule_gives_results<in_rewrite<Pass, Op, Diagnosis>> = rule_gives_results<Diagnosis>;
template <class Diagnosis>
inline constexpr bool node_is_in_pattern = true;
template <fixed_string Name, class Names>
inline constexpr bool node_is_in_pattern<not_in_pattern<Name, Names>> = false;
template <class Pass, class Op, class Diagnosis>
inline constexpr bool node_is_in_pattern<in_rewrite<Pass, Op, Diagnosis>> = node_is_in_pattern<Diagnosis>;
template <class Pass, class Op, class Diagnosis>
inline constexpr bool calls_fit<in_rewrite<Pass, Op, Diagnosis>> = calls_fit<Diagnosis>;

}  // namespace headrace

#endif
