// SPDX-License-Identifier: MIT
// Defines headrace::pass_fault, what is wrong with a pass by itself, as diagnoses that name the culprit.
#ifndef HEADRACE_PASS_PASS_CHECKS_HPP
#define HEADRACE_PASS_PASS_CHECKS_HPP

#include <type_traits>

#include <headrace/base/fixed_string.hpp>
#include <headrace/dialect/builtin.hpp>
#include <headrace/pass/driver.hpp>
#include <headrace/pass/pass.hpp>

namespace headrace {

/// Diagnoses, for compile errors; see no_fault. `Op` is `graph` for a pass over the whole graph.
template <class T>
struct not_a_pass {};
/// Nothing but `struct Pass;` is known of it.
template <class Pass>
struct only_declared {};
template <class Pass, class Op>
struct handler_not_const {};
/// `Handler` is the type of the pass's one handler, which fits none of its targets.
template <class Pass, class Op, class Handler>
struct wrong_handler {};
/// A pass has handlers that nothing would call.
template <class Pass>
struct no_targets {};
/// The function `rewrites` of a pass returns something else than rules, or is not static.
template <class Pass, class Result>
struct no_rules {};
struct not_static {};
/// A member of a pass that should be an `ops` or a `pass_list` is a `T`.
template <class Pass, fixed_string Member, class T>
struct not_a_list {};

// One trait for each message; each fails for its own diagnosis alone. Who runs passes asserts all of them in
// its own body: a common helper would cost the reader of a message the lines that lead to it.
template <class Diagnosis>
inline constexpr bool is_a_pass = true;
template <class T>
inline constexpr bool is_a_pass<not_a_pass<T>> = false;
template <class Diagnosis>
inline constexpr bool is_defined = true;
template <class Pass>
inline constexpr bool is_defined<only_declared<Pass>> = false;
template <class Diagnosis>
inline constexpr bool handlers_are_const = true;
template <class Pass, class Op>
inline constexpr bool handlers_are_const<handler_not_const<Pass, Op>> = false;
template <class Diagnosis>
inline constexpr bool handlers_fit = true;
template <class Pass, class Op, class Handler>
inline constexpr bool handlers_fit<wrong_handler<Pass, Op, Handler>> = false;
template <class Diagnosis>
inline constexpr bool lists_are_lists = true;
template <class Pass, fixed_string Member, class T>
inline constexpr bool lists_are_lists<not_a_list<Pass, Member, T>> = false;
template <class Diagnosis>
inline constexpr bool rewrites_are_rules = true;
template <class Pass, class Result>
inline constexpr bool rewrites_are_rules<no_rules<Pass, Result>> = false;
template <class Diagnosis>
inline constexpr bool handlers_have_targets = true;
template <class Pass>
inline constexpr bool handlers_have_targets<no_targets<Pass>> = false;

namespace detail {

// Has a class a call operator, overloaded, a template or not? Then the name is ambiguous in what also derives
// from this.
struct has_call_operator_too {
    void operator()();
};
template <class P>
struct call_probe : P, has_call_operator_too {};
template <class P>
inline constexpr bool has_handlers = [] {
    if constexpr (std::is_final_v<P>) {
        return requires { &P::operator(); };
    } else {
        return !requires { &call_probe<P>::operator(); };
    }
}();

template <class P, class Op>
concept handles_if_not_const = requires(P& p, const args<Op>& a, emit<declared_by<P>>& e) { p(a, e); } ||
                               requires(P& p, const args<Op>& a, emit<declared_by<P>>& e) { p(Op{}, a, e); };

template <class P, class... Ops>
constexpr bool handles_any(ops<Ops...>) {
    return (handles<P, Ops> || ...);
}

// A handler is there, but not for what it is called with: say why, if that can be told.
template <class P, class Op>
auto refine(no_handler<P, Op>) {
    if constexpr (handles_if_not_const<P, Op>) {
        return handler_not_const<P, Op>{};
    } else if constexpr (requires { &P::operator(); }) {
        if constexpr (handles_any<P>(targets_of<P>{})) {
            return no_handler<P, Op>{};
        } else {
            return wrong_handler<P, Op, decltype(&P::operator())>{};
        }
    } else {
        return no_handler<P, Op>{};
    }
}

template <class T>
inline constexpr bool is_pass_list = false;
template <class... Passes>
inline constexpr bool is_pass_list<pass_list<Passes...>> = true;

// Diagnoses a member that should be a list, by the first that is none.
template <class P>
auto find_other_list() {
    if constexpr (requires { requires !is_op_list<typename P::targets>; }) {
        return not_a_list<P, "targets", typename P::targets>{};
    } else if constexpr (requires { requires !is_op_list<typename P::targeted_ops>; }) {
        return not_a_list<P, "targeted_ops", typename P::targeted_ops>{};
    } else if constexpr (requires { requires !is_op_list<typename P::target_ops>; }) {
        return not_a_list<P, "target_ops", typename P::target_ops>{};
    } else if constexpr (requires { requires !is_op_list<typename P::supported_ops>; }) {
        return not_a_list<P, "supported_ops", typename P::supported_ops>{};
    } else if constexpr (requires { requires !is_op_list<typename P::edge_ops>; }) {
        return not_a_list<P, "edge_ops", typename P::edge_ops>{};
    } else if constexpr (requires { requires !is_op_list<typename P::aten_ops>; }) {
        return not_a_list<P, "aten_ops", typename P::aten_ops>{};
    } else if constexpr (requires { requires !is_op_list<typename P::produces>; }) {
        return not_a_list<P, "produces", typename P::produces>{};
    } else if constexpr (requires { requires !is_op_list<typename P::removes>; }) {
        return not_a_list<P, "removes", typename P::removes>{};
    } else if constexpr (requires { requires !is_pass_list<typename P::requires_before>; }) {
        return not_a_list<P, "requires_before", typename P::requires_before>{};
    } else if constexpr (requires { requires !is_pass_list<typename P::requires_after>; }) {
        return not_a_list<P, "requires_after", typename P::requires_after>{};
    } else if constexpr (requires { requires !is_pass_list<typename P::runs_before>; }) {
        return not_a_list<P, "runs_before", typename P::runs_before>{};
    } else if constexpr (requires { requires !is_pass_list<typename P::runs_after>; }) {
        return not_a_list<P, "runs_after", typename P::runs_after>{};
    } else if constexpr (requires { requires !is_pass_list<typename P::ensures>; }) {
        return not_a_list<P, "ensures", typename P::ensures>{};
    } else if constexpr (requires { requires !is_pass_list<typename P::invalidates>; }) {
        return not_a_list<P, "invalidates", typename P::invalidates>{};
    } else {
        return no_fault{};
    }
}

// Diagnoses a function `rewrites` that gives no rules.
template <class P>
auto find_other_rewrites() {
    if constexpr (!std::is_same_v<rules_of<P>, rule_list<>>) {
        return no_fault{};
    } else if constexpr (requires { P::rewrites(); }) {
        using returned = decltype(P::rewrites());
        return std::conditional_t<is_rule_list<returned>, no_fault, no_rules<P, returned>>{};
    } else if constexpr (requires(P& p) { p.rewrites(); }) {
        return no_rules<P, not_static>{};
    } else {
        return no_fault{};
    }
}

// The first op that the rules of a pass make and that has no inference. Handlers' ops are checked where they
// are made, a pass that is declared where it is compiled.
template <class... Ops>
auto find_not_inferred(ops<Ops...>) {
    using dialect = builtin::dialect;
    return typename first_of_faults<
        std::conditional_t<inferable<Ops> || std::is_same_v<typename Ops::dialect_type, dialect>, no_fault,
                           no_inference<Ops>>...>::type{};
}
template <class P>
auto find_inference_fault() {
    if constexpr (is_declared<P> || !requires { sizeof(P); }) {
        return no_fault{};
    } else if constexpr (requires { typename P::made_by_expressions; }) {
        return find_not_inferred(typename P::made_by_expressions{});
    } else if constexpr (!std::is_same_v<rules_of<P>, rule_list<>>) {
        return find_not_inferred(list_of_set<made_by_rules<P>>{});
    } else {
        return no_fault{};
    }
}

template <class P>
auto find_pass_fault() {
    if constexpr (is_declared<P>) {
        return no_fault{};  // where it is compiled, its definition is checked
    } else if constexpr (!requires { sizeof(P); }) {
        return only_declared<P>{};
    } else if constexpr (!pass_type<P>) {
        return not_a_pass<P>{};
    } else if constexpr (!std::is_same_v<decltype(find_other_list<P>()), no_fault>) {
        return find_other_list<P>();
    } else if constexpr (!std::is_same_v<decltype(find_other_rewrites<P>()), no_fault>) {
        return find_other_rewrites<P>();
    } else if constexpr (!std::is_same_v<typename effects_of<P>::faulty_rule, no_fault>) {
        return typename effects_of<P>::faulty_rule{};
    } else if constexpr (!std::is_same_v<typename effects_of<P>::missing_handler, no_fault>) {
        return detail::refine(typename effects_of<P>::missing_handler{});
    } else if constexpr (targets_of<P>::size != 0 || graph_pass<P> || !has_handlers<P>) {
        return no_fault{};
    } else if constexpr (requires(P& p, graph& g, pass_context& c) { p(g, c); }) {
        return handler_not_const<P, graph>{};
    } else {
        return no_targets<P>{};
    }
}
template <class P>
auto find_code_fault() {
    if constexpr (
        requires { sizeof(P); } || requires { requires declared_pass<P>::is_compiled; }) {
        return no_fault{};
    } else {
        return only_declared<P>{};
    }
}
template <class P>
auto find_faulty_handler() {
    if constexpr (!is_declared<P> && pass_type<P>) {
        return typename effects_of<P>::faulty_handler{};
    } else {
        return no_fault{};
    }
}

}  // namespace detail

/// no_fault, or what keeps a pass from running: a type that is no pass or only declared, a target without a
/// fitting handler, handlers without targets.
template <class P>
using pass_fault = decltype(detail::find_pass_fault<P>());
/// no_fault, or that a pass has neither a definition here nor code in headrace::compiled.
template <class P>
using code_fault_of = decltype(detail::find_code_fault<P>());
/// no_fault, or the handler whose result cannot replace a node.
template <class P>
using faulty_handler_of = decltype(detail::find_faulty_handler<P>());

/// no_fault, or an op that the expressions of a pass make and whose results nothing infers.
template <class P>
using inference_fault_of = decltype(detail::find_inference_fault<P>());

/// Matches passes without a fault, which proofs can count on.
template <class P>
concept sound_pass =
    std::is_same_v<pass_fault<P>, no_fault> && std::is_same_v<faulty_handler_of<P>, no_fault>;
/// Matches passes for whose ops inference is there, and those of them that can run.
template <class P>
concept has_inference = std::is_same_v<inference_fault_of<P>, no_fault>;
template <class P>
concept runnable_pass = sound_pass<P> && has_inference<P>;

}  // namespace headrace

#endif
